package setup

import "github.com/countersign/countersign/internal/addon/addondb"

const WebTokenFile = webTokenFile

func (s *Service) DB() *addondb.DB             { return s.o.DB }
func (s *Service) LockUpdate() (func(), error) { return s.lockUpdate() }
