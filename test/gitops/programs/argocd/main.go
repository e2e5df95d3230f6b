// Command argocd compares as Argo CD does: it applies each object by gitops-engine, on the client side and on the
// server side, and asks in each of its ways whether what is live then differs from what was applied. It reads one
// JSON request from standard input and writes one JSON answer; the cluster is that of KUBECONFIG.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/argoproj/gitops-engine/pkg/diff"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
	"github.com/argoproj/gitops-engine/pkg/utils/tracing"
	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	cmdutil "k8s.io/kubectl/pkg/cmd/util"
)

// manager is the field manager of Argo CD's server-side apply (argo-cd common.ArgoCDSSAManager).
const manager = "argocd-controller"

type request struct {
	Namespace string `json:"namespace"`
	// Objects are applied one after the other and taken away again, each by itself.
	Objects []map[string]any `json:"objects"`
}

type difference struct {
	// Object is its place in the request.
	Object int `json:"object"`
	// Mode is how it was applied and how it was compared.
	Mode      string          `json:"mode"`
	Live      json.RawMessage `json:"live"`
	Predicted json.RawMessage `json:"predicted"`
}

type answer struct {
	// Modes are those in which every object was compared.
	Modes       []string     `json:"modes"`
	Compared    int          `json:"compared"`
	Differences []difference `json:"differences"`
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	said, err := compareAll(context.Background(), asked)
	if err != nil {
		fail(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func compareAll(ctx context.Context, asked request) (*answer, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1000, 1000
	free := func(string) (kube.CleanupFunc, error) { return func() {}, nil }
	kubectl := &kube.KubectlCmd{Log: logr.Discard(), Tracer: tracing.NopTracer{}, OnKubectlRun: free}
	schema, parser, err := kubectl.LoadOpenAPISchema(config)
	if err != nil {
		return nil, err
	}
	apply, cleanApply, err := kubectl.ManageResources(config, schema)
	if err != nil {
		return nil, err
	}
	defer cleanApply()
	dryRun, cleanDryRun, err := kube.ManageServerSideDiffDryRuns(config, schema, tracing.NopTracer{}, logr.Discard(), free)
	if err != nil {
		return nil, err
	}
	defer cleanDryRun()
	shared := []diff.Option{
		diff.WithLogr(logr.Discard()), diff.WithGVKParser(parser), diff.WithManager(manager),
	}
	ways := []struct {
		name    string
		options []diff.Option
	}{
		{"three-way diff", shared},
		{"structured merge diff", append(shared[:3:3], diff.WithStructuredMergeDiff(true))},
		{"server-side diff", append(shared[:3:3],
			diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(dryRun)))},
		{"server-side diff with webhooks", append(shared[:3:3], diff.WithIgnoreMutationWebhook(false),
			diff.WithServerSideDiff(true), diff.WithServerSideDryRunner(diff.NewK8sServerSideDryRunner(dryRun)))},
	}
	said := &answer{Modes: []string{}, Differences: []difference{}}
	for _, side := range []string{"client", "server"} {
		for _, way := range ways {
			said.Modes = append(said.Modes, side+"-side apply, "+way.name)
		}
		said.Modes = append(said.Modes, side+"-side apply, again")
	}
	for at, content := range asked.Objects {
		object := &unstructured.Unstructured{Object: content}
		object.SetNamespace(asked.Namespace)
		what := fmt.Sprintf("object %d, %s %s", at, object.GetKind(), object.GetName())
		for _, side := range []string{"client", "server"} {
			put := func() (*unstructured.Unstructured, error) {
				_, err := apply.ApplyResource(ctx, object.DeepCopy(), cmdutil.DryRunNone, false, true, side == "server", manager)
				if err != nil {
					return nil, fmt.Errorf("%s, %s-side apply: %w", what, side, err)
				}
				return kubectl.GetResource(ctx, config, object.GroupVersionKind(), object.GetName(), asked.Namespace)
			}
			live, err := put()
			if err != nil {
				return nil, err
			}
			for _, way := range ways {
				mode := side + "-side apply, " + way.name
				result, err := diff.Diff(object.DeepCopy(), live.DeepCopy(), way.options...)
				if err != nil {
					return nil, fmt.Errorf("%s, %s: %w", what, mode, err)
				}
				if result.Modified {
					said.Differences = append(said.Differences, difference{at, mode, result.NormalizedLive, result.PredictedLive})
				}
				said.Compared++
			}
			// The default of status is not stored at creation, but by the next write, which is otherwise the operator's.
			settled, err := put()
			if err != nil {
				return nil, err
			}
			again, err := put()
			if err != nil {
				return nil, err
			}
			if again.GetResourceVersion() != settled.GetResourceVersion() {
				said.Differences = append(said.Differences, difference{at, side + "-side apply, again", asJSON(settled), asJSON(again)})
			}
			said.Compared++
			if err := remove(ctx, kubectl, config, live); err != nil {
				return nil, fmt.Errorf("%s: %w", what, err)
			}
		}
	}
	return said, nil
}

// remove deletes and waits for the end: what comes next may have the same name.
func remove(ctx context.Context, kubectl *kube.KubectlCmd, config *rest.Config, live *unstructured.Unstructured) error {
	kind, name, namespace := live.GroupVersionKind(), live.GetName(), live.GetNamespace()
	if err := kubectl.DeleteResource(ctx, config, kind, name, namespace, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true, func(context.Context) (bool, error) {
		_, err := kubectl.GetResource(ctx, config, kind, name, namespace)
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

func asJSON(object *unstructured.Unstructured) json.RawMessage {
	bytes, err := object.MarshalJSON()
	if err != nil {
		return json.RawMessage(`null`)
	}
	return bytes
}
