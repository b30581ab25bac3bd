# Completion of ilux in fish: the program itself says which words may follow (apps/manual/completions.hpp).
function __ilux_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    for one in ($program --complete $words[2..-1] 2>/dev/null)
        switch $one
            case :files
                set -l option (string match -r '^--[^=]*=' -- (commandline -ct))
                for path in (__fish_complete_path (string replace -r '^--[^=]*=' '' -- (commandline -ct)))
                    echo "$option$path"
                end
            case :folders
                __fish_complete_directories (commandline -ct) ''
            case :nospace
            case '*'
                echo $one
        end
    end
end
complete -c ilux -f -a '(__ilux_complete)'
