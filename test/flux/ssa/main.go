// Command ssa does to a cluster what the controllers of Flux do: it applies, compares, waits and prunes with
// Flux's own package. It reads one JSON request from standard input and writes one JSON answer; the cluster is
// that of KUBECONFIG.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	"github.com/fluxcd/cli-utils/pkg/kstatus/polling"
	"github.com/fluxcd/pkg/ssa"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

type request struct {
	// Do is apply, wait or prune.
	Do string `json:"do"`
	// Name is that of the Kustomization, "shop" unless it is said.
	Name string `json:"name"`
	// Namespace is where the objects go; none where they say so themselves.
	Namespace string           `json:"namespace"`
	Objects   []map[string]any `json:"objects"`
	// TimeoutMs limits wait and prune.
	TimeoutMs int64 `json:"timeoutMs"`
}

type answer struct {
	// Changes says what became of each object: created, configured, unchanged, deleted.
	Changes map[string]string `json:"changes"`
	// Error is what Flux would show of a Kustomization that fails.
	Error string `json:"error,omitempty"`
	// TookMs is how long it took until that was known.
	TookMs int64 `json:"tookMs"`
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	manager, err := newManager()
	if err != nil {
		fail(err)
	}
	start := time.Now()
	changes, err := do(manager, asked)
	said := answer{Changes: map[string]string{}, TookMs: time.Since(start).Milliseconds()}
	if changes != nil {
		for _, entry := range changes.Entries {
			said.Changes[entry.Subject] = entry.Action.String()
		}
	}
	if err != nil {
		said.Error = err.Error()
	}
	if err := json.NewEncoder(os.Stdout).Encode(said); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func newManager() (*ssa.ResourceManager, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, err
	}
	mapper, err := apiutil.NewDynamicRESTMapper(config, httpClient)
	if err != nil {
		return nil, err
	}
	kube, err := client.New(config, client.Options{Mapper: mapper})
	if err != nil {
		return nil, err
	}
	poller := polling.NewStatusPoller(kube, mapper, polling.Options{})
	owner := ssa.Owner{Field: "kustomize-controller", Group: "kustomize.toolkit.fluxcd.io"}
	return ssa.NewResourceManager(kube, poller, owner), nil
}

func do(manager *ssa.ResourceManager, asked request) (*ssa.ChangeSet, error) {
	ctx := context.Background()
	objects := make([]*unstructured.Unstructured, 0, len(asked.Objects))
	for _, one := range asked.Objects {
		object := &unstructured.Unstructured{Object: one}
		if asked.Namespace != "" {
			object.SetNamespace(asked.Namespace)
		}
		objects = append(objects, object)
	}
	name := asked.Name
	if name == "" {
		name = "shop"
	}
	manager.SetOwnerLabels(objects, name, asked.Namespace)
	timeout := time.Duration(asked.TimeoutMs) * time.Millisecond
	wait := ssa.WaitOptions{Interval: 500 * time.Millisecond, Timeout: timeout, FailFast: true}
	switch asked.Do {
	case "apply":
		return manager.ApplyAllStaged(ctx, objects, ssa.DefaultApplyOptions())
	case "wait":
		return nil, manager.Wait(objects, wait)
	case "prune":
		options := ssa.DefaultDeleteOptions()
		options.Inclusions = manager.GetOwnerLabels(name, asked.Namespace)
		options.Exclusions = map[string]string{"kustomize.toolkit.fluxcd.io/prune": "disabled"}
		changes, err := manager.DeleteAll(ctx, objects, options)
		if err != nil {
			return changes, err
		}
		return changes, manager.WaitForSetTermination(changes, wait)
	default:
		return nil, fmt.Errorf("nothing is called %q", asked.Do)
	}
}
