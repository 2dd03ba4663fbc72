# Hooks for an interactive PowerShell 7, read by -Command after the user's profiles.
#
# Marks are OSC 633 and end with the nonce of the command they are about, which lives in this script's own scope. A
# new one is taken from the file "next" when a command begins.
& {
    $state = @{
        Nonce    = '@NONCE@'
        Folder   = @DIR@
        Prompt   = $function:global:prompt
        ReadLine = $function:global:PSConsoleHostReadLine
        Seen     = $false
        Ran      = 0
        History  = @HISTORY@
    }
    $state.Escape = {
        param([string] $text)
        [regex]::Replace($text, '[\\;\x00-\x1f\x7f]', {
                param($match)
                if ($match.Value -eq '\') { '\\' } else { '\x{0:x2}' -f [int][char]$match.Value }
            })
    }
    $state.Mark = {
        param([string] $body)
        [Console]::Write("$([char]0x1b)]633;$body;$($state.Nonce)$([char]7)")
    }.GetNewClosure()

    $function:global:prompt = {
        $ok = $global:?
        $native = $global:LASTEXITCODE
        $location = $ExecutionContext.SessionState.Path.CurrentLocation
        if ($location.Provider.Name -eq 'FileSystem') {
            & $state.Mark "P;Cwd=$(& $state.Escape $location.ProviderPath)"
        }
        if ($state.Seen) {
            # A cmdlet has no exit code; $? is all there is to know.
            $code = if ($ok) { 0 } elseif ($native) { $native } else { 1 }
            & $state.Mark "D;$code;;$($state.Ran)"
        }
        $state.Seen = $true
        $state.Ran = 0
        & $state.Mark 'A'
        $text = & $state.Prompt
        $global:LASTEXITCODE = $native
        "$text$([char]0x1b)]633;B;$($state.Nonce)$([char]7)"
    }.GetNewClosure()

    if ($state.ReadLine) {
        $function:global:PSConsoleHostReadLine = {
            $line = & $state.ReadLine
            $state.Ran = 1
            $next = [IO.File]::ReadAllText([IO.Path]::Combine($state.Folder, 'next')).Trim()
            if ($next) { $state.Nonce = $next }
            if ($line.Length -le 16384) { & $state.Mark "E;$(& $state.Escape $line)" }
            & $state.Mark 'C'
            $line
        }.GetNewClosure()
        if (-not $state.History) {
            Set-PSReadLineOption -AddToHistoryHandler { param([string] $line) -not $line.StartsWith(' ') }
        }
    }

    # The text of a command that was too long or too odd to type, once.
    $function:global:__ttyward_take = {
        param([string] $name)
        $path = [IO.Path]::Combine($state.Folder, $name)
        $text = [IO.File]::ReadAllText($path)
        [IO.File]::Delete($path)
        $text
    }.GetNewClosure()
}
