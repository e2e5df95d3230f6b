# The image of the operator: the bundle on a Node base image. Both images are given by digest, as
# scripts/image.ts does; there is no default, and anything without a digest is refused:
#   npm run image -- --tag ghcr.io/boxwright/boxwright:0.1.0
ARG BUILD_IMAGE
ARG BASE_IMAGE

FROM ${BUILD_IMAGE} AS build
ARG BUILD_IMAGE
ARG BASE_IMAGE
RUN for image in "$BUILD_IMAGE" "$BASE_IMAGE"; do \
      case "$image" in \
        *@sha256:*) ;; \
        *) echo "BUILD_IMAGE and BASE_IMAGE must end with @sha256:<digest>: $image does not" >&2; exit 1 ;; \
      esac; \
    done
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# The scripts of packages are not needed for bundling, so none is run.
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY scripts ./scripts
COPY src ./src
RUN node scripts/bundle.ts

FROM ${BASE_IMAGE}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title="boxwright" \
      org.opencontainers.image.description="Kubernetes operator for a Cloud Deployment Automation service" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
COPY --chmod=0444 LICENSE /licenses/LICENSE
COPY --from=build --chmod=0444 /build/dist/*.js /build/dist/package.json /app/
# One arena: glibc’s allocator otherwise keeps one for each of a dozen threads, which have little to allocate.
ENV NODE_ENV=production MALLOC_ARENA_MAX=1
# Any UID will do, OpenShift's included: nothing is written, and everybody may read.
USER 65532:65532
# Kubernetes asks by its own probes.
HEALTHCHECK NONE
# New objects get 2 MiB instead of 16, and the heap is collected rather than grown (docs/adr/0012). Its limit follows from that
# of the pod: the chart sets NODE_OPTIONS.
ENTRYPOINT ["node", "--max-semi-space-size=2", "--optimize-for-size", "/app/boxwright.js"]
CMD ["operator"]
