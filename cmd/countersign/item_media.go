package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/countersign/countersign/internal/cli"
	"github.com/countersign/countersign/internal/store"
	"github.com/countersign/countersign/internal/store/media"
	"github.com/spf13/cobra"
)

// itemSlots are the slots of an item with what their flags say.
var itemSlots = []struct {
	media.Slot
	usage string
}{
	{media.Thumbnail, "its thumbnail"}, {media.PreviewImage, "its preview image"}, {media.PreviewVideo, "its preview video"},
	{media.PreviewAudio, "its preview audio"}, {media.File, "what its buyers download"},
}

// slotFlag is the flag of a slot.
func slotFlag(s media.Slot) string { return strings.ReplaceAll(string(s), "_", "-") }

func newItemMedia(a *app) *cobra.Command {
	return cli.Group(&cobra.Command{Use: "media", Short: "Uploaded files of items: set, remove"}, newItemMediaSet(a), newItemMediaRemove(a))
}

func newItemMediaSet(a *app) *cobra.Command {
	files := map[media.Slot]*string{}
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "set ID", Short: "Upload files of an item and print it",
		Long: `Upload files of an item and print it. They replace what is there. The content of a file decides
what it is. Pictures are written again without their metadata.

The files are in the folder media of the data folder, or where --media says, which has to be
what the server has.`,
		Example: `  countersign store item media set 1229 --thumbnail thumb.png --preview-image preview.jpg
  countersign store item media set 1229 --file rain-1.2.3.zip`,
		PreRunE: cli.AnyChanged,
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.ShowItem(ctx, operator(), id)
		for _, slot := range itemSlots {
			if path := *files[slot.Slot]; err == nil && path != "" {
				i, err = a.uploadFile(ctx, s, id, slot.Slot, path)
			}
		}
		return a.showItem(ctx, s, "", i, err)
	})
	for _, slot := range itemSlots {
		files[slot.Slot] = c.Flags().String(slotFlag(slot.Slot), "", "`FILE` that becomes "+slot.usage)
	}
	return c
}

// uploadFile uploads a file for a slot of an item.
func (a *app) uploadFile(ctx context.Context, s *store.Store, id int64, slot media.Slot, path string) (store.Item, error) {
	file, err := a.openFile(path)
	if err != nil {
		return store.Item{}, err
	}
	defer file.Close()
	return s.Media.SetItem(ctx, operator(), id, slot, media.Upload{Name: filepath.Base(path), From: file})
}

func newItemMediaRemove(a *app) *cobra.Command {
	slots := map[media.Slot]*bool{}
	c := onID(a.withStore, "item", a.fromStore(itemIDs), &cobra.Command{
		Use: "remove ID", Short: "Remove files of an item and print it",
		Long: `Remove files of an item, or their addresses on other servers, and print it. Uploaded files are
deleted after a day. Download links for buyers stop working at once.`,
		Example: "  countersign store item media remove 1229 --preview-image",
		PreRunE: cli.AnyChanged,
	}, func(ctx context.Context, s *store.Store, id int64) error {
		i, err := s.ShowItem(ctx, operator(), id)
		for _, slot := range itemSlots {
			if err == nil && *slots[slot.Slot] {
				i, err = s.Media.RemoveItem(ctx, operator(), id, slot.Slot)
			}
		}
		return a.showItem(ctx, s, "", i, err)
	})
	for _, slot := range itemSlots {
		slots[slot.Slot] = c.Flags().Bool(slotFlag(slot.Slot), false, "remove "+slot.usage)
	}
	return c
}
