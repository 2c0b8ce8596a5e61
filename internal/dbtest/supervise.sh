# usage: supervise BIN DIR CACHE
trap '' PIPE
bin=$1 dir=$2 cache=$3
kept=$cache/$("$bin/postgres" --version | tr -c 'A-Za-z0-9.\n' _)
end() {
	"$bin/pg_ctl" -D "$dir/data" -m immediate -w stop >/dev/null 2>&1
	cd / && rm -rf "$dir"
}
init() {
	rm -rf "$dir/data"
	"$bin/initdb" -D "$dir/data" -U postgres -A trust -E UTF8 --locale=C --no-sync "$@" >"$dir/log" 2>&1
}
# A linguistic order of text, which most servers have, shows where a query
# forgot to ask for the order of bytes.
fresh() {
	init --locale-provider=icu --icu-locale=en-US || init || return
	[ -z "$cache" ] || { # if two processes come here at once, the second leaves a folder that PostgreSQL ignores
		rm -rf "$kept"
		cp -Rp "$dir/data" "$cache/new.$$" && mv "$cache/new.$$" "$kept"
	}
}
copied() {
	[ -n "$cache" ] && [ -d "$kept" ] && cp -Rp "$kept" "$dir/data"
}
start() {
	cat >>"$dir/data/postgresql.conf" <<-END
	listen_addresses = ''
	unix_socket_directories = '$dir'
	max_connections = 300
	shared_buffers = 32MB
	fsync = off
	synchronous_commit = off
	full_page_writes = off
	jit = off
	autovacuum = off
	max_wal_size = 128MB
	END
	"$bin/pg_ctl" -D "$dir/data" -l "$dir/log" -w start >/dev/null 2>&1
}
{ copied && start; } || { fresh && start; } || { cat "$dir/log"; end; exit 1; }
echo ready
read -r nothing
end
