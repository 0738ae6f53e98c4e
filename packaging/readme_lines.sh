#!/bin/sh
# readme_lines.sh ACCOUNT TARGET...: what the README tells people with a bare Debian, on this one.
#
# As root, in a clone. ACCOUNT is root, or a user that is made here and may not become root: what
# the README or the set-up names with sudo is run as root for that user, and nothing else. Prints a
# line `bare: STEP: ok in N s` for each step, `failed` instead of `ok` otherwise, and ends there.
set -u
cd "$(dirname "$0")/.." || exit 1
account=$1
shift
export DEBIAN_FRONTEND=noninteractive
said=$(mktemp)

# as it would be typed by the account; its output is in $said, too
typed() {
  # stays, where even the shell that runs it is killed
  echo 137 >"$said.code"
  if [ "$account" = root ]; then
    { sh -c "$1" </dev/null; echo $? >"$said.code"; } 2>&1 | tee "$said"
  else
    { runuser -u "$account" -- env HOME="/home/$account" USER="$account" sh -c "$1" </dev/null
      echo $? >"$said.code"; } 2>&1 | tee "$said"
  fi
  return "$(cat "$said.code")"
}

# what needs root; the one question of apt-get is answered
as_root() {
  sh -c "$(echo "$1" | sed 's/^ *sudo //; s/apt-get install \(-y \)*/apt-get install -y /')" </dev/null
}

step() {
  name=$1
  began=$(date +%s)
  shift
  "$@"
  code=$?
  word=ok
  [ $code = 0 ] || word=failed
  echo "bare: $name: $word in $(($(date +%s) - began)) s"
  [ $code = 0 ] || exit 1
}

# the set-up of a user without root ends once, with one command
made() {
  typed "make $1" && return 0
  named=$(sed -n 's/^  \(sudo apt-get install .*\)$/\1/p' "$said" | head -1)
  if [ "$account" = root ] || [ -z "$named" ]; then return 1; fi
  echo "bare: as root: $named"
  as_root "$named" && typed "make $1"
}

packages=$(sed -n 's/.*`\(sudo apt-get install [^`]*\)`.*/\1/p' README.md | head -1)
if [ -z "$packages" ]; then
  echo "bare: the README has no line with apt-get" >&2
  exit 1
fi
# an installed Debian has these lists, an image has not
step "apt-get update" apt-get update -qq
step "$packages" as_root "$packages"
if [ "$account" != root ]; then
  id "$account" >/dev/null 2>&1 || useradd --create-home --shell /bin/bash "$account"
  chown -R "$account" . "/home/$account"
fi
for target in "$@"; do
  grep -q "^make $target " README.md || {
    echo "bare: the README does not name make $target" >&2
    exit 1
  }
  step "make $target" made "$target"
  if [ "$target" = run ] && [ ! -s demo/headstart.png -o ! -s demo/conversation.md ]; then
    echo "bare: make run left no picture and no conversation"
    exit 1
  fi
done
