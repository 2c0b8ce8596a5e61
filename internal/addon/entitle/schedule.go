package entitle

import "time"

// The schedules of background work (1.4, 6.6).
const (
	// AcknowledgeAlarm is how long an acknowledgement may be pending before people are told.
	AcknowledgeAlarm = time.Hour
	// Leeway is how long access continues after the paid time while the store can't be asked,
	// unless the settings say otherwise.
	Leeway = 6 * time.Hour
	// ExpiryJitter is the most that the first check waits after an expiry.
	ExpiryJitter = time.Minute
	// HeldEvery is how often purchases on hold and paused ones are read again, HeldFor how long.
	HeldEvery = 12 * time.Hour
	HeldFor   = 65 * 24 * time.Hour
	// StaleAfter is how old the last news of an active purchase may be before it is read again.
	StaleAfter = 3 * 24 * time.Hour
	// VoidedOverlap is how far before the last success the list of voided purchases is read.
	VoidedOverlap = 2 * time.Hour
	// SilenceAlarm is how long no notification may arrive while renewals are observed.
	SilenceAlarm = 48 * time.Hour
)

// AcknowledgeRetries are the waits after failed attempts of an acknowledgement; the last one repeats (1.4).
func AcknowledgeRetries() []time.Duration {
	return []time.Duration{5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute}
}

// NextExpiryCheck returns when a purchase with access is read again (6.6): after its expiry and the jitter, then
// 5 and 30 minutes and 2 hours after it, and every 2 hours from then on.
func NextExpiryCheck(expiry, now time.Time, jitter time.Duration) time.Time {
	for _, wait := range []time.Duration{jitter, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour} {
		if at := expiry.Add(wait); at.After(now) {
			return at
		}
	}
	return now.Add(2 * time.Hour)
}

// NextHeldCheck returns when a purchase on hold, or a paused one, is read again; false after 65 days. A pause ends at
// a time that the store names, zero for none.
func NextHeldCheck(since, now, resumes time.Time) (at time.Time, more bool) {
	at = now.Add(HeldEvery)
	if resumes.After(now) && resumes.Before(at) {
		at = resumes.Add(time.Minute)
	}
	return at, at.Before(since.Add(HeldFor)) || resumes.After(now)
}
