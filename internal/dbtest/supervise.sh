# usage: supervise BIN DIR
trap '' PIPE
bin=$1 dir=$2
end() {
	"$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1
	cd / && rm -rf "$dir"
}
init() {
	"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync "$@" >"$dir/log" 2>&1
}
# A linguistic order of text, which most servers have, shows where a query
# forgot to ask for the order of bytes.
init --locale-provider=icu --icu-locale=en-US || { rm -rf "$dir/data"; init; } || { cat "$dir/log"; end; exit 1; }
cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$dir'
max_connections = 300
shared_buffers = 32MB
fsync = off
synchronous_commit = off
full_page_writes = off
END
"$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null 2>&1 || { cat "$dir/log"; end; exit 1; }
echo ready
read -r nothing
end
