<?php
// Fills a database from import lines: php fill.php DATABASE LINES
declare(strict_types=1);

[, $path, $lines] = $argv;
$db = new PDO("sqlite:$path", null, null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
$db->exec("PRAGMA journal_mode = WAL;
    CREATE TABLE keys (digest TEXT PRIMARY KEY, workspace TEXT NOT NULL) WITHOUT ROWID;
    CREATE TABLE items (id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, support INTEGER NOT NULL,
        answer TEXT NOT NULL); -- the item as the answer prints it
    CREATE TABLE purchases (id INTEGER PRIMARY KEY, workspace TEXT NOT NULL, code TEXT NOT NULL,
        item INTEGER NOT NULL REFERENCES items, license_type TEXT NOT NULL, price INTEGER NOT NULL, currency TEXT NOT NULL,
        supported_until TEXT NOT NULL, downloaded INTEGER NOT NULL, date TEXT NOT NULL, state TEXT NOT NULL,
        buyer_name TEXT NOT NULL, buyer_email TEXT NOT NULL);
    BEGIN");
$key = $db->prepare('INSERT INTO keys (digest, workspace) VALUES (?, ?)');
$item = $db->prepare('INSERT INTO items (id, workspace, support, answer) VALUES (?, ?, ?, ?)');
$purchase = $db->prepare('INSERT INTO purchases (workspace, code, item, license_type, price, currency, supported_until,
    downloaded, date, state, buyer_name, buyer_email) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');

// The item as the answer prints it; "@1@" and "@2@" hold the places of the prices.
function itemAnswer(array $l): string
{
    $media = ['thumbnail' => $l['media']['thumbnail'] ?? ''];
    foreach (['preview_image', 'preview_video', 'preview_audio'] as $name) {
        if (isset($l['media'][$name])) {
            $media[$name] = $l['media'][$name];
        }
    }
    if ($l['kind'] === 'other') {
        $media += ['preview_image' => ''];
    }
    $text = json_encode([
        'id' => $l['id'], 'name' => $l['name'], 'description' => $l['description'] ?? '',
        'category' => $l['category'] ?? '', 'sub_category' => $l['sub_category'] ?? '', 'options' => $l['options'] ?? [],
        'version' => $l['version'] ?? '', 'demo_link' => $l['demo_link'] ?? '', 'tags' => $l['tags'] ?? [],
        'media' => $media, 'price' => ['regular' => '@1@', 'extended' => '@2@'],
        'currency' => $l['currency'], 'published_at' => $l['published_at'],
    ], JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_THROW_ON_ERROR);
    return strtr($text, [
        '"@1@"' => number_format($l['price']['regular'], 2, '.', ''),
        '"@2@"' => number_format($l['price']['extended'], 2, '.', ''),
    ]);
}

$in = fopen($lines, 'r') ?: exit(1);
while (($text = fgets($in)) !== false) {
    $l = json_decode($text, true, flags: JSON_THROW_ON_ERROR);
    match ($l['type']) {
        'key' => $key->execute([hash('sha256', $l['key']), $l['workspace']]),
        'item' => $item->execute([$l['id'], $l['workspace'], (int) ($l['support'] ?? false), itemAnswer($l)]),
        'purchase' => $purchase->execute([
            $l['workspace'], $l['purchase_code'], $l['item_id'], $l['license_type'], (int) round($l['price'] * 100),
            $l['currency'], $l['supported_until'] ?? '', (int) $l['downloaded'], $l['date'], $l['state'],
            $l['buyer']['name'] ?? '', $l['buyer']['email'] ?? '',
        ]),
        default => null,
    };
}
$db->exec('COMMIT; CREATE UNIQUE INDEX purchases_code ON purchases (code); PRAGMA wal_checkpoint(TRUNCATE)');
