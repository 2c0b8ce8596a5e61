package main

import "testing"

func TestTheProcessorsTimeIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want machineTime
	}{
		"all but the times of guests":         {"cpu  1 2 3 4 5 6 7 8 90 90\ncpu0 1 1 1 1 1 1 1 1 1 1\n", machineTime{36, 8}},
		"without times of guests":             {"cpu  1 2 3 4 5 6 7 8\n", machineTime{36, 8}},
		"a machine that shares with no other": {"cpu  10 0 0 10 0 0 0 0 0 0\n", machineTime{20, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := parseMachineTime(c.text); err != nil || got != c.want {
				t.Errorf("got %+v, error %v, want %+v", got, err, c.want)
			}
		})
	}
	for name, text := range map[string]string{
		"nothing": "", "one processor's line": "cpu0 1 2 3 4 5 6 7 8\n", "cut off": "cpu 1 2 3\n", "no numbers": "cpu 1 2 3 4 5 6 7 x\n",
	} {
		t.Run(name+" is an error", func(t *testing.T) {
			if got, err := parseMachineTime(text); err == nil {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestTheStolenShareIsOfAllTimeBetweenTwoReadings(t *testing.T) {
	before := machineTime{all: 1000, stolen: 100}
	for name, c := range map[string]struct {
		after machineTime
		want  float64
	}{
		"none":                         {machineTime{1200, 100}, 0},
		"a quarter":                    {machineTime{1200, 150}, 0.25},
		"all of it":                    {machineTime{1200, 300}, 1},
		"no tick between the readings": {machineTime{1000, 100}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.after.stolenSince(before); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}
