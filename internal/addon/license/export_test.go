package license

import "github.com/countersign/countersign/internal/addon/addondb"

const MetaStore = metaStore

func (s *Service) DB() *addondb.DB { return s.db }
