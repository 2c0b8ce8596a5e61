package credential

import (
	"time"

	"github.com/countersign/countersign/internal/addon/addondb"
	"github.com/countersign/countersign/internal/addon/usertoken"
	"github.com/countersign/countersign/internal/cached"
)

const UserTokenIssuer = userTokenIssuer

var MAC, NoncePattern, ReadTimestamp = mac, noncePattern, readTimestamp

func (s *Service) DB() *addondb.DB                 { return s.db }
func (s *Service) Nonces() int                     { return len(s.nonces.until) }
func (s *Service) Pairs() *cached.Value[pairTable] { return &s.pairs }
func (s *Service) SetStarted(at time.Time)         { s.started = at }
func (s *Service) UserTokenKey() usertoken.Key     { return s.userTokenKey() }
