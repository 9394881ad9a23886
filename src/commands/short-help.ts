import { visibleText } from '../stream/texts.ts'
import { commandLine } from './command-line.ts'
import type { GlobalOptions } from './options.ts'
import type { Runtime } from './runtime.ts'
import { storeChoice } from './store.ts'

/** What `leasectl` alone prints: what it is, which store is meant, three commands to begin with. */
export async function printShortHelp(options: GlobalOptions, runtime: Runtime): Promise<void> {
  const { address, source } = await runtime.describeStore(storeChoice(options))
  const lines = [
    'leasectl shows and changes event streams kept in leased blobs.',
    '',
    `Store: ${visibleText(address)}`,
    `       (${SOURCES[source]})`,
    '',
    'Begin with:',
    ...firstCommands(runtime, source === 'default' ? [] : ['--store', address]),
    '',
    `All commands: ${runtime.startedAs} --help`,
  ]
  await runtime.stdout.write(`${lines.join('\n')}\n`)
}

function firstCommands(runtime: Runtime, store: readonly string[]): string[] {
  const lines = FIRST_COMMANDS.map(([words, what]) => [commandLine(runtime, [...words, ...store]), what] as const)
  const width = lines.reduce((widest, [line]) => Math.max(widest, line.length), 0)
  return lines.map(([line, what]) => `  ${line.padEnd(width)}   # ${what}`)
}

const SOURCES = {
  flag: 'from the command line',
  context: 'from the context that was named',
  environment: 'from LEASECTL_STORE',
  current: 'the current context',
  azure: 'from the Azure variables of the environment',
  default: 'the embedded one; --store or LEASECTL_STORE name another',
} as const

const FIRST_COMMANDS: readonly (readonly [words: readonly string[], what: string])[] = [
  [['init', 'orders/4711', '--fork', 'Search,Pay'], 'create a stream'],
  [['ls'], 'list streams'],
  [['show', 'orders/4711'], 'its events as a tree'],
]
