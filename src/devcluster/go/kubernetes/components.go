//go:build components

// Package components pins the programs of the control plane that Boxwright's
// development cluster builds: importing their main packages is what keeps them
// in go.mod and go.sum.
package components

import (
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
