package program

import "github.com/prometheus/procfs"

// Processes lists all processes of the machine.
func Processes() ([]procfs.ProcStat, error) {
	processes, err := procfs.AllProcs()
	var all []procfs.ProcStat
	for _, one := range processes {
		if stat, err := one.Stat(); err == nil { // else it has ended
			all = append(all, stat)
		}
	}
	return all, err
}
