import { commandLine, shellWord } from '../../cli/command-line.ts'
import type { Runtime } from '../../cli/runtime.ts'
import type { Subject } from '../../tui/ports.ts'
import { commandWords } from '../../util/command-words.ts'

/** The command line that shows the same as the dashboard. @param match the pattern of `top --match` */
export function commandFor(subject: Subject, match: string | undefined, runtime: Runtime): string {
  const matching = match === undefined ? [] : ['--match', match]
  switch (subject.kind) {
    case 'streams':
      return [commandLine(runtime, ['ls', ...matching]), ...greps(subject.filter)].join(' | ')
    case 'stream': {
      const format = { tree: [], timeline: ['-o', 'timeline'], xml: ['-o', 'xml'] }[subject.pane]
      return commandLine(runtime, commandWords(['show'], [subject.stream], format))
    }
    case 'event': {
      const select = ['--select', `./Event[@id=${xpathText(subject.event)}]`]
      return commandLine(runtime, commandWords(['show'], [subject.stream], select))
    }
    case 'leases':
      return commandLine(runtime, ['lease', 'ls'])
    case 'watchdog':
      return commandLine(runtime, ['watchdog', 'status'])
    case 'activity':
      return commandLine(runtime, ['tail', '-f', ...matching])
    default:
      return subject satisfies never
  }
}

/** Words of the filter, as the shell would look for them in what `ls` prints. */
function greps(filter: string): readonly string[] {
  return filter
    .split(/\s+/)
    .filter(word => word !== '' && word !== '!')
    .map(word => (word.startsWith('!') ? `grep -ivF -e ${shellWord(word.slice(1))}` : `grep -iF -e ${shellWord(word)}`))
}

/** XPath has no escapes: a text with both quotes is put together. */
function xpathText(text: string): string {
  if (!text.includes("'")) return `'${text}'`
  if (!text.includes('"')) return `"${text}"`
  return `concat(${text
    .split("'")
    .map(part => `'${part}'`)
    .join(`, "'", `)})`
}
