//go:build components

// Package components pins etcd, which Boxwright's development cluster builds.
package components

import _ "go.etcd.io/etcd/server/v3"
