<?php
// Runs the update of the addon from a terminal:
//
//     php api-addons/update.php
//
// It calls "countersign addon update" with the same arguments and passes the exit
// code on. The program is the one that COUNTERSIGN_BIN names, or the one in PATH.
// The data folder is the one of --data or COUNTERSIGN_ADDON_DATA, or one that is
// here already, or else countersign-addon-data beside the web root.
// Over the web, /api-addons/update.php is served by "countersign addon serve".

if (PHP_SAPI !== 'cli') {
    http_response_code(403);
    header('Content-Type: text/plain; charset=utf-8');
    header('Cache-Control: no-store');
    exit("This runs from a terminal only: countersign addon update\n");
}

/** The path of the program, or null if it was not found. */
function countersign_program(): ?string
{
    $named = getenv('COUNTERSIGN_BIN');
    if ($named !== false && $named !== '') {
        return is_file($named) && is_executable($named) ? $named : null;
    }
    foreach (explode(PATH_SEPARATOR, (string) getenv('PATH')) as $folder) {
        foreach (['countersign', 'countersign.exe'] as $name) {
            $path = ($folder === '' ? '.' : $folder) . DIRECTORY_SEPARATOR . $name;
            if (is_file($path) && is_executable($path)) {
                return $path;
            }
        }
    }
    return null;
}

/** The folder beside the site: its web root is the highest folder with a file of a site. */
function countersign_outside(): string
{
    $root = dirname(__DIR__);
    for ($folder = $root; dirname($folder) !== $folder; $folder = dirname($folder)) {
        foreach (['index.php', 'index.html', '.htaccess', 'wp-config.php', 'update.php'] as $name) {
            if (is_file("$folder/$name")) {
                $root = $folder;
            }
        }
    }
    return dirname($root);
}

/** Reports whether the data folder is named, or there in the folder where the program looks. */
function countersign_data_known(array $arguments): bool
{
    foreach ($arguments as $argument) {
        if ($argument === '--data' || strncmp($argument, '--data=', 7) === 0) {
            return true;
        }
    }
    return getenv('COUNTERSIGN_ADDON_DATA') !== false || is_dir('countersign-addon-data');
}

$program = countersign_program();
if ($program === null) {
    fwrite(STDERR, "The program countersign was not found; put it into PATH, or name it in COUNTERSIGN_BIN.\n");
    exit(127);
}
if (!function_exists('proc_open')) {
    fwrite(STDERR, "This PHP may not start programs (disable_functions); run it yourself: $program addon update\n");
    exit(126);
}
$arguments = array_slice($_SERVER['argv'] ?? [], 1);
if (!countersign_data_known($arguments)) {
    $data = countersign_outside() . DIRECTORY_SEPARATOR . 'countersign-addon-data';
    putenv("COUNTERSIGN_ADDON_DATA=$data");
    fwrite(STDERR, "Data folder: $data. Name it to all commands, with --data or COUNTERSIGN_ADDON_DATA.\n");
}
$process = proc_open(array_merge([$program, 'addon', 'update'], $arguments), [STDIN, STDOUT, STDERR], $pipes);
if ($process === false) {
    fwrite(STDERR, "$program could not be started.\n");
    exit(126);
}
$code = proc_close($process);
exit($code < 0 ? 1 : $code);
