#!/bin/sh
# Makes the tests of the example and runs them against all four servers. Needs volee and the servers in the PATH:
#   cargo build --workspace && PATH="$PWD/target/debug:$PATH" examples/connection/run.sh
cd "$(dirname "$0")" || exit 2
tests=$(mktemp -d) || exit 2
trap 'rm -r "$tests"' EXIT
for purpose in reopened closed unopened; do
  volee tests connection.pml --inputs request --outputs reply --purpose "$purpose.aut" -o "$tests/$purpose.json" || exit 2
done
status=0
for server in connection-server connection-forgetful connection-mute connection-eager; do
  echo "== $server"
  volee conform "$tests"/*.json --mapping lines.toml -- "$server"
  code=$?
  case "$server $code" in
    "connection-server 0" | *-forgetful\ 1 | *-mute\ 1 | *-eager\ 1) ;;
    *) echo "unexpected: $server ended with $code"; status=1 ;;
  esac
done
exit $status
