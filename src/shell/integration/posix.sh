# Marks for shells without hooks (dash, busybox ash, ksh, mksh), read through ENV. The prompts carry them.
#
# Where output begins cannot be seen at a prompt; commands handed over by file say so themselves. The line that hands
# one over names its nonce:
#   { __ttyward_was=$?$-; \set +x; __ttyward_take FILE NONCE; } 2>/dev/null; \eval "$__ttyward_text"
# It is not traced, and what it calls is found whatever functions the user has: programs by their path, others in a
# subshell that forgets the user's functions first.
case $- in
*i*)
  case $- in *a*) __ttyward_allexport=1 ;; *) __ttyward_allexport= ;; esac
  set +a
  __ttyward_nonce=@NONCE@
  __ttyward_dir=@DIR@
  if [ -n "${KSH_VERSION-}" ]; then
    __ttyward_put() { print -rn -- "$1"; }
  else
    __ttyward_put() { printf %s "$1"; }
  fi
  for __ttyward_cat in /bin/cat /usr/bin/cat cat; do
    if [ -x "$__ttyward_cat" ]; then break; fi
  done
  for __ttyward_stty in /bin/stty /usr/bin/stty stty; do
    if [ -x "$__ttyward_stty" ]; then break; fi
  done
  # What goes on with a trace. ksh ends what a function does to -x with the function.
  if [ -n "${KSH_VERSION-}" ]; then
    __ttyward_on='set -x'
  else
    __ttyward_trace() { set -x; return "$__ttyward_s"; }
    __ttyward_on='{ __ttyward_trace; } 2>/dev/null'
  fi
  # In a subshell: functions of the user's in the place of what is used there. ksh93 would lose the builtins.
  case ${KSH_VERSION-} in
  Version*) __ttyward_forget() { :; } ;;
  *) __ttyward_forget() { unset -f command printf print; } ;;
  esac
  # Puts the text of a command, once, from the file $1, into __ttyward_text; $2 is its nonce. The mark says that the
  # text was read: without it nothing ran.
  __ttyward_take() {
    case $__ttyward_was in *a*) set +a ;; esac
    __ttyward_s=${__ttyward_was%%[!0-9]*}
    __ttyward_text=$(
      __ttyward_forget
      case $__ttyward_was in
      *n*) ;;  # mksh runs this even so
      *) "$__ttyward_cat" "$__ttyward_dir/$1" && __ttyward_put "@ESC@]633;C;$2@BEL@" >/dev/tty && : >|"$__ttyward_dir/$1" ;;
      esac
    )
    __ttyward_nonce=$2
    case $__ttyward_was in *x*) __ttyward_text="$__ttyward_on
$__ttyward_text" ;; esac
    case $__ttyward_was in *a*) set -a ;; esac
    # A status would end a shell with -e.
    case $__ttyward_was in *e*) return 0 ;; esac
    return "$__ttyward_s"
  }
  # Throws away what was typed and not read. There is such a file if anything was typed since the last prompt that
  # must not become a command.
  __ttyward_drop() {
    __ttyward_d=$?
    if [ -e "$__ttyward_dir/typed" ]; then
      __ttyward_s=$("$__ttyward_stty" -g </dev/tty) &&
        "$__ttyward_stty" -icanon -echo min 0 time 1 </dev/tty && "$__ttyward_cat" </dev/tty >/dev/null
      "$__ttyward_stty" "$__ttyward_s" </dev/tty
    fi
    return "$__ttyward_d"
  } 2>/dev/null
  if [ -n "$__ttyward_allexport" ]; then set -a; fi
  unset __ttyward_allexport
  ;;
esac

if [ @AGAIN@ != 1 ]; then
  if [ @HAS_ENV@ = 1 ]; then
    ENV=@USER_ENV@
    export ENV
  else
    unset ENV
  fi
  if [ @LOGIN@ = 1 ]; then
    if [ -r /etc/profile ]; then . /etc/profile; fi
    if [ -r "${HOME-}/.profile" ]; then . "$HOME/.profile"; fi
  fi
  if [ -n "${ENV-}" ]; then
    # The value is expanded, as the shell itself would have done. A file that cannot be read is passed over.
    eval "__ttyward_rc=\"$ENV\""
    case $__ttyward_rc in /*) ;; *) __ttyward_rc=./$__ttyward_rc ;; esac
    if [ -r "$__ttyward_rc" ]; then . "$__ttyward_rc"; fi
    unset __ttyward_rc
  fi
@NATIVE_RC@
fi

case $- in
*i*)
  # By name, so that an exported PS1 gives nothing away. A path with characters the mark cannot hold is left out.
  PS1='@HIDE@@ESC@]633;P;Cwd=${PWD##*[;\\]*};${__ttyward_nonce-}@BEL@@ESC@]633;D;$?;;;${__ttyward_nonce-}@BEL@@ESC@]633;A;${__ttyward_nonce-}@BEL@@DROP@@SHOW@'"${PS1-$ }"'@HIDE@@ESC@]633;B;${__ttyward_nonce-}@BEL@@SHOW@'
  PS2='@HIDE@@ESC@]633;F;${__ttyward_nonce-}@BEL@@SHOW@'"${PS2-> }"'@HIDE@@ESC@]633;G;${__ttyward_nonce-}@BEL@@SHOW@'
  PS1="@PROMPT_LEAD@$PS1"
  ;;
esac
