// Command lua runs resource customizations of Argo CD as Argo CD does: gopher-lua with base, table, package and
// a cut-down os that only require gives, one second a script. It reads one JSON request from standard input and
// writes one JSON answer.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
	luajson "layeh.com/gopher-json"
)

// limit is what Argo CD gives a script.
const limit = time.Second

type request struct {
	Scripts map[string]string `json:"scripts"`
	Cases   []testCase        `json:"cases"`
}

type testCase struct {
	Script string `json:"script"`
	Object object `json:"object"`
	// Permute runs the script on every order of status.conditions.
	Permute bool `json:"permute"`
	// Patch reads the result as the changed object.
	Patch bool `json:"patch"`
}

type object = map[string]any

type answer struct {
	// Results are the different results, one unless the order of conditions counts.
	Results []any  `json:"results"`
	Runs    int    `json:"runs"`
	Error   string `json:"error,omitempty"`
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		fail(err)
	}
	answers := make([]answer, 0, len(asked.Cases))
	for _, one := range asked.Cases {
		answers = append(answers, try(asked.Scripts[one.Script], one))
	}
	if err := json.NewEncoder(os.Stdout).Encode(answers); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func try(script string, one testCase) answer {
	if script == "" {
		return answer{Error: "no script " + one.Script}
	}
	said := answer{}
	seen := map[string]bool{}
	for _, obj := range orders(one) {
		said.Runs++
		result, err := run(script, obj)
		if err != nil {
			said.Error = err.Error()
			return said
		}
		if one.Patch {
			result = cleaned(result, obj)
		}
		text, err := json.Marshal(result)
		if err != nil {
			said.Error = err.Error()
			return said
		}
		if !seen[string(text)] {
			seen[string(text)] = true
			said.Results = append(said.Results, result)
		}
	}
	return said
}

func orders(one testCase) []object {
	status, _ := one.Object["status"].(object)
	conditions, _ := status["conditions"].([]any)
	if !one.Permute || len(conditions) < 2 {
		return []object{one.Object}
	}
	var all []object
	for _, order := range permutations(conditions) {
		changed := object{}
		for name, value := range status {
			changed[name] = value
		}
		changed["conditions"] = order
		copied := object{}
		for name, value := range one.Object {
			copied[name] = value
		}
		copied["status"] = changed
		all = append(all, copied)
	}
	return all
}

func permutations(items []any) [][]any {
	if len(items) == 0 {
		return [][]any{{}}
	}
	var all [][]any
	for i := range items {
		rest := append(append([]any{}, items[:i]...), items[i+1:]...)
		for _, tail := range permutations(rest) {
			all = append(all, append([]any{items[i]}, tail...))
		}
	}
	return all
}

func run(script string, obj object) (any, error) {
	l := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer l.Close()
	for _, library := range []struct {
		name string
		open lua.LGFunction
	}{
		{lua.LoadLibName, lua.OpenPackage},
		{lua.BaseLibName, lua.OpenBase},
		{lua.TabLibName, lua.OpenTable},
	} {
		call := lua.P{Fn: l.NewFunction(library.open), NRet: 0, Protect: true}
		if err := l.CallByParam(call, lua.LString(library.name)); err != nil {
			return nil, err
		}
	}
	l.PreloadModule(lua.OsLibName, cutDownOS)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	l.SetContext(ctx)
	l.SetGlobal("obj", luajson.DecodeValue(l, obj))
	if err := l.DoString(script); err != nil {
		return nil, err
	}
	table, ok := l.Get(-1).(*lua.LTable)
	if !ok {
		return nil, errors.New("the script returned no table but " + l.Get(-1).Type().String())
	}
	text, err := luajson.Encode(table)
	if err != nil {
		return nil, err
	}
	var result any
	return result, json.Unmarshal(text, &result)
}

// cutDownOS gives date and time of the interpreter's own library and nothing else of it.
func cutDownOS(l *lua.LState) int {
	whole := lua.NewState()
	defer whole.Close()
	module := l.NewTable()
	for _, name := range []string{"date", "time"} {
		function := whole.GetGlobal("os").(*lua.LTable).RawGetString(name).(*lua.LFunction)
		module.RawSetString(name, l.NewFunction(function.GFunction))
	}
	l.Push(module)
	return 1
}

// cleaned does what Argo CD does with a changed object. An empty table of Lua travels as an empty list, so where
// the live object has a map, the live map is put back: an action cannot empty a map.
func cleaned(changed any, live any) any {
	switch now := changed.(type) {
	case object:
		before, _ := live.(object)
		for name, value := range now {
			if was, ok := before[name]; ok {
				now[name] = cleaned(value, was)
			}
		}
	case []any:
		if before, ok := live.(object); ok && len(now) == 0 {
			return before
		}
		before, _ := live.([]any)
		for i := range now {
			if i < len(before) {
				now[i] = cleaned(now[i], before[i])
			}
		}
	}
	return changed
}
