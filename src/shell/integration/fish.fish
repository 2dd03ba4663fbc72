# Hooks for an interactive fish, 3.0 or later. Read by --init-command, after config.fish, or by a shell that is at its
# prompt already.
#
# Marks are OSC 633 and end with the nonce of the command they are about: fish_preexec takes it from the file "next",
# where the terminal puts a new one before each prompt. They go to /dev/tty, because a command may have redirected
# the shell's own output. Nothing is exported.
set -gu __ttyward_nonce @NONCE@
set -gu __ttyward_dir @DIR@
set -gu __ttyward_ran 0
set -gu __ttyward_seen
set -gu __ttyward_snapshot
set -gu __ttyward_env_names
set -gu __ttyward_env_values

function __ttyward_mark
    builtin printf '\e]633;%s;%s\a' $argv[1] $__ttyward_nonce >/dev/tty
end

# OSC 633's escapes.
function __ttyward_escape
    builtin string replace --all -- \\ '\\\\' "$argv[1]" | builtin string replace --all -- \; '\\x3b' \
        | builtin string replace --all -- \t '\\x09' | builtin string replace --all -- \e '\\x1b' \
        | builtin string replace --all -- \a '\\x07' | builtin string replace --all -- \r '\\x0d' \
        | builtin string join '\\x0a'
end

# The text of a command that was too long or too odd to type, once.
function __ttyward_take
    set -l s $status
    command cat $__ttyward_dir/$argv[1] | builtin string collect --no-trim-newlines
    builtin echo -n >$__ttyward_dir/$argv[1]
    return $s
end

# Which exported variables changed since the last prompt. Names that sound like secrets keep their values.
function __ttyward_environment
    # Whether anything changed at all is one comparison; looking at each is many milliseconds.
    set -l now (builtin set --export --long | builtin string match --invert --regex '^(_|PWD|OLDPWD|SHLVL) ')
    test "$now" = "$__ttyward_snapshot"
    and return
    set -g __ttyward_snapshot "$now"
    set -l names
    set -l values
    __ttyward_mark 'EnvSingleStart;0'
    for name in (builtin set --export --names)
        builtin string match --quiet --regex '^(_|PWD|OLDPWD|SHLVL)$|[^A-Za-z0-9_]' -- $name
        and continue
        set -l value
        if builtin string match --quiet '*PATH' -- $name
            set value (builtin string join : -- $$name)
        else
            set value "$$name"
        end
        set value (builtin string join \n -- $value | builtin string collect)
        set -a names $name
        set -a values "=$value"
        if set -l at (builtin contains --index -- $name $__ttyward_env_names)
            test "$__ttyward_env_values[$at]" = "=$value"
            and continue
        end
        if builtin string match --quiet --regex --ignore-case 'token|secret|passw|passphrase|key|auth|cred|private|cert|pwd$|_pat$|dsn$' -- $name
            or builtin string match --quiet --regex '://[^/]*:.*@' -- $value
            or test (builtin string length -- "$value") -gt 4096
            __ttyward_mark "EnvSingleHidden;$name"
        else
            __ttyward_mark "EnvSingleEntry;$name;"(__ttyward_escape "$value")
        end
    end
    for name in $__ttyward_env_names
        builtin contains -- $name $names
        or __ttyward_mark "EnvSingleDelete;$name"
    end
    __ttyward_mark EnvSingleEnd
    set -g __ttyward_env_names $names
    set -g __ttyward_env_values $values
end

# Throws away what was typed and not read. There is such a file if anything was typed since the last prompt that must
# not become a command.
function __ttyward_drop
    command sh -c 's=$(stty -g) && stty -icanon -echo min 0 time 1 && cat >/dev/null; stty "$s"' </dev/tty 2>/dev/null
end

function __ttyward_exec --on-event fish_preexec
    set -l next
    builtin read next <$__ttyward_dir/next
    test -n "$next"
    and set -g __ttyward_nonce $next
    set -g __ttyward_ran 1
    if test (builtin string length -- "$argv[1]") -le 16384
        __ttyward_mark "E;"(__ttyward_escape "$argv[1]")
    end
    __ttyward_mark C
end

function __ttyward_finish --on-event fish_postexec
    set -l s $status
    set -l p $pipestatus
    __ttyward_mark "P;Cwd="(__ttyward_escape $PWD)
    __ttyward_mark "D;$s;"(builtin string join '|' -- $p)";$__ttyward_ran"
    set -g __ttyward_ran 2
end

function __ttyward_prompt --on-event fish_prompt
    set -l s $status
    set -l p $pipestatus
    if test "$__ttyward_ran" = 0 -a -n "$__ttyward_seen"
        __ttyward_mark "D;$s;"(builtin string join '|' -- $p)";0"
    end
    if test "$__ttyward_ran" != 0 -o -z "$__ttyward_seen"
        test @ENVIRONMENT@ = 1
        and __ttyward_environment
    end
    set -g __ttyward_ran 0
    set -g __ttyward_seen 1
    __ttyward_install
    test -e $__ttyward_dir/typed
    and __ttyward_drop
    __ttyward_mark "P;Cwd="(__ttyward_escape $PWD)
    __ttyward_mark A
end

# Ctrl-C at the prompt: fish draws its prompt anew without the event.
function __ttyward_cancel --on-event fish_cancel
    __ttyward_mark "D;130;;0"
    __ttyward_mark A
end

# Wraps the prompt function; run before each prompt, because a theme may define it anew.
function __ttyward_install
    functions --query fish_prompt
    or return
    functions fish_prompt | builtin string match --quiet '*__ttyward_user_prompt*'
    and return
    functions --erase __ttyward_user_prompt
    functions --copy fish_prompt __ttyward_user_prompt
    function fish_prompt
        __ttyward_user_prompt
        builtin printf '\e]633;B;%s\a' $__ttyward_nonce
    end
end
__ttyward_install
