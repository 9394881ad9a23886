import { commandLine, storeWords } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { sourceText, storeChoice } from '../../cli/store.ts'
import { visibleText } from '../../util/visible-text.ts'

/** What `leasectl` alone prints: what it is, which store is meant, three commands to begin with. */
export async function printShortHelp(options: GlobalOptions, runtime: Runtime): Promise<void> {
  const { lines: store, words } = await storeMeant(options, runtime)
  const lines = [
    'leasectl shows and changes event streams kept in leased blobs.',
    '',
    ...store,
    '',
    'Begin with:',
    ...firstCommands(runtime, words),
    '',
    `All commands: ${runtime.startedAs} --help`,
  ]
  await runtime.stdout.write(`${lines.join('\n')}\n`)
}

/** What names the store may be wrong itself: that is told here too, for whoever is lost types no more than the name. */
async function storeMeant(
  options: GlobalOptions,
  runtime: Runtime,
): Promise<{ readonly lines: readonly string[]; readonly words: readonly string[] }> {
  try {
    const where = await runtime.describeStore(storeChoice(options))
    const address = `Store: ${visibleText(where.address)}${where.isProtected ? ', protected' : ''}`
    return { lines: [address, `       (${sourceText(where)})`], words: storeWords(where) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const hint = error.hint === undefined ? [] : [`       ${visibleText(error.hint)}`]
    return { lines: [`Store: not to be told: ${visibleText(error.message)}`, ...hint], words: [] }
  }
}

function firstCommands(runtime: Runtime, store: readonly string[]): string[] {
  const lines = FIRST_COMMANDS.map(([words, what]) => [commandLine(runtime, [...words, ...store]), what] as const)
  const width = lines.reduce((widest, [line]) => Math.max(widest, line.length), 0)
  return lines.map(([line, what]) => `  ${line.padEnd(width)}   # ${what}`)
}

const FIRST_COMMANDS: readonly (readonly [words: readonly string[], what: string])[] = [
  [['init', 'orders/4711', '--fork', 'Search,Pay'], 'create a stream'],
  [['ls'], 'list streams'],
  [['show', 'orders/4711'], 'its events as a tree'],
]
