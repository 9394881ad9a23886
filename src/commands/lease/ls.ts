import { type Command, Option } from 'commander'
import { parsed, type Run, reads } from '../../cli/command.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { duration, pattern } from '../../cli/values.ts'
import type { ListLeasesOptions } from './list.ts'

export function register(parent: Command, runtime: Runtime, go: Run<ListLeasesOptions> = run): void {
  const command = parent
    .command('ls')
    .alias('list')
    .addOption(
      new Option(
        '--match <glob>',
        'names like this: * stays within a /, ** does not; also ? [a-z] [!a-z] {a,b}',
      ).argParser(pattern('--match')),
    )
    .addOption(
      new Option(
        '--stale [duration]',
        'only those that look left behind, and why: held for longer than this (default: 5m); infinite with a holder ' +
          'nobody knows; held for over a minute by a process of this host that no longer runs, as one taken by hand is',
      ).argParser(duration('--stale')),
    )
  const description = {
    summary: 'who holds which lease, since when and what for',
    examples: [
      ['lease ls', 'all that are held'],
      ['lease ls --stale', 'those that look left behind'],
      ["lease ls --match 'orders/**' -o json", 'for scripts'],
    ],
    formats: ['table', 'json', 'ndjson'],
  } as const
  reads(command, runtime, description, parse, go)
}

/** `--stale` alone. */
const STALE_AFTER_MS = 5 * 60_000

function parse(command: Command): ListLeasesOptions {
  const { stale, ...options } = parsed<Omit<ListLeasesOptions, 'stale'> & { stale?: number | true }>(command, [])
  return stale === undefined ? options : { ...options, stale: stale === true ? STALE_AFTER_MS : stale }
}

export const run: Run<ListLeasesOptions> = async (options, runtime) => {
  const { listLeases } = await import('./list.ts')
  return listLeases(options, runtime)
}
