<?php
// POST /api/purchases/validation, in plain PHP.
declare(strict_types=1);

function answer(int $status, string $body): never
{
    http_response_code($status);
    header('Content-Type: application/json; charset=utf-8');
    header('Content-Length: ' . strlen($body));
    header('Cache-Control: no-store');
    echo $body;
    exit;
}

function refuse(int $status, string $message): never
{
    answer($status, json_encode(['status' => 'error', 'msg' => $message]));
}

$db = new PDO('sqlite:' . $_SERVER['SHOP'], null, null, [
    PDO::ATTR_PERSISTENT => true,
    PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION,
    PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC,
]);
$digest = hash('sha256', $_SERVER['HTTP_X_API_KEY'] ?? '');

// One query for a good code; a second one for the reason when there is no answer.
$find = $db->prepare("SELECT p.code, p.license_type, p.price, p.currency, p.supported_until, p.downloaded, p.date,
        i.support, i.answer
    FROM keys k JOIN purchases p ON p.workspace = k.workspace JOIN items i ON i.id = p.item
    WHERE k.digest = ? AND p.code = ? AND p.state = 'active'");
$find->execute([$digest, $_POST['purchase_code'] ?? '']);
$row = $find->fetch();
if ($row === false) {
    $known = $db->prepare('SELECT 1 FROM keys WHERE digest = ?');
    $known->execute([$digest]);
    $known->fetchColumn() ? refuse(404, 'Invalid purchase code') : refuse(401, 'Invalid request');
}

// json_encode cannot print 49.00, and the item is ready text: the rest is put around it.
$support = $row['support'] && $row['supported_until'] !== ''
    ? ',"supported_until":' . json_encode($row['supported_until']) : '';
answer(200, '{"status":"success","data":{"purchase":{"purchase_code":' . json_encode($row['code'], JSON_UNESCAPED_SLASHES)
    . ',"license_type":' . json_encode($row['license_type'])
    . ',"price":' . sprintf('%d.%02d', intdiv($row['price'], 100), $row['price'] % 100)
    . ',"currency":' . json_encode($row['currency'])
    . ',"item":' . $row['answer'] . $support
    . ',"downloaded":' . ($row['downloaded'] ? 'true' : 'false')
    . ',"date":' . json_encode($row['date']) . '}}}');
