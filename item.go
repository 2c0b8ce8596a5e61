package countersign

// Item is something that is sold (spec 2.3). ID is positive and unique in the whole store.
type Item struct {
	ID          int64     `json:"id"`
	Name        string    `json:"name"`
	Description string    `json:"description"`
	Category    string    `json:"category"`
	SubCategory string    `json:"sub_category"`
	Options     List      `json:"options"`
	Version     Version   `json:"version"`
	DemoLink    string    `json:"demo_link"`
	Tags        List      `json:"tags"`
	Media       ItemMedia `json:"media"`
	Price       Price     `json:"price"`
	Currency    string    `json:"currency"`
	PublishedAt Timestamp `json:"published_at"`
}

// ItemMedia holds the absolute URLs of an item's files (spec 2.3). What an item of its kind does not have is nil and
// is not printed.
type ItemMedia struct {
	Thumbnail    string   `json:"thumbnail"`
	PreviewImage *string  `json:"preview_image,omitempty"`
	PreviewVideo *string  `json:"preview_video,omitempty"`
	PreviewAudio *string  `json:"preview_audio,omitempty"`
	Screenshots  []string `json:"screenshots,omitempty"`
}

// Price is what an item costs under each license type (spec 2.3), in the item's currency.
type Price struct {
	Regular  Money `json:"regular"`
	Extended Money `json:"extended"`
}
