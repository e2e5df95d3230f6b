import type { BlobDoc } from '../model.ts';

/** `type/subtype` with parameters (RFC 9110 section 8.3.1): it becomes a header of each download. */
export const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:[ \t]*;[ -~\t]{0,512})?$/;
export const ANY_TYPE = 'application/octet-stream';

/** What a browser is told: somebody else's file is kept, never shown as a page of this service. */
const DOWNLOAD = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

function disposition(name: string): string {
  const plain = name.replaceAll(/[^ -~]|["\\%]/g, '_');
  // The characters that encodeURIComponent leaves and RFC 8187 does not.
  const coded = encodeURIComponent(name).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16)}`,
  );
  return `attachment; filename="${plain}"; filename*=UTF-8''${coded}`;
}

/** Type and headers under which a browser gets a file. */
export function downloadOf(blob: BlobDoc): { type: string; headers: Record<string, string> } {
  return {
    type: MEDIA_TYPE.test(blob.content_type) ? blob.content_type : ANY_TYPE,
    headers: { ...DOWNLOAD, 'content-disposition': disposition(blob.name) },
  };
}
