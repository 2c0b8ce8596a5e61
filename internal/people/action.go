package people

// Action names what an actor did, in the audit log.
type Action string
