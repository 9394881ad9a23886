import { commandLine, storeWords } from '../../cli/command-line.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { guardWords, sourceText, storeChoice } from '../../cli/store.ts'
import { visibleText } from '../../util/visible-text.ts'

/** Prints the help of `leasectl` without arguments: its purpose, the selected store, three first commands. */
export async function printShortHelp(options: GlobalOptions, runtime: Runtime): Promise<void> {
  const { lines: store, words } = await selectedStore(options, runtime)
  const lines = [
    'leasectl inspects and changes event streams in leased blobs.',
    '',
    ...store,
    '',
    'Start with:',
    ...firstCommands(runtime, words),
    '',
    `All commands: ${runtime.startedAs} --help`,
  ]
  await runtime.stdout.write(`${lines.join('\n')}\n`)
}

/** The selected store. An error in its name is printed here, because this help is for users who are lost. */
async function selectedStore(
  options: GlobalOptions,
  runtime: Runtime,
): Promise<{ readonly lines: readonly string[]; readonly words: readonly string[] }> {
  try {
    const where = await runtime.describeStore(storeChoice(options))
    const address = `Store: ${visibleText(where.address)}${guardWords(where)}`
    return { lines: [address, `       (${sourceText(where)})`], words: storeWords(where) }
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    const hint = error.hint === undefined ? [] : [`       ${visibleText(error.hint)}`]
    return { lines: [`Store: unknown: ${visibleText(error.message)}`, ...hint], words: [] }
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
  [['show', 'orders/4711'], 'show its events as a tree'],
]
