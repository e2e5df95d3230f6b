// Runs Trivy's Kubernetes checks, which its module carries, over a folder of manifests and prints what they find
// as JSON. Trivy itself would bring the scanners of images and languages, a hundred times the code.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	"github.com/aquasecurity/trivy/pkg/iac/rego"
	"github.com/aquasecurity/trivy/pkg/iac/scanners/kubernetes"
)

type finding struct {
	ID       string `json:"id"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Message  string `json:"message"`
	File     string `json:"file"`
}

type report struct {
	// Passed counts checks that found nothing to object to.
	Passed   int       `json:"passed"`
	Findings []finding `json:"findings"`
}

func main() {
	scanner := kubernetes.NewScanner(
		rego.WithEmbeddedPolicies(true),
		rego.WithEmbeddedLibraries(true),
		rego.WithPolicyNamespaces("builtin"),
	)
	results, err := scanner.ScanFS(context.Background(), os.DirFS(os.Args[1]), ".")
	if err != nil {
		log.Fatal(err)
	}
	failed := results.GetFailed()
	out := report{Passed: len(results.GetPassed()), Findings: make([]finding, 0, len(failed))}
	for _, result := range failed {
		rule := result.Rule()
		out.Findings = append(out.Findings, finding{
			ID:       rule.ID,
			Severity: string(result.Severity()),
			Title:    rule.Summary,
			Message:  result.Description(),
			File:     result.Range().GetFilename(),
		})
	}
	if err := json.NewEncoder(os.Stdout).Encode(out); err != nil {
		log.Fatal(err)
	}
}
