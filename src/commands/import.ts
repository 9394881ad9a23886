import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { inFlag, nonEmpty, pattern, streamName } from '../cli/values.ts'
import { checkStreamName } from '../store/names.ts'
import type { ImportOptions } from './import/run.ts'
import { transferFlags } from './transfer/flags.ts'

const NOTES = `
Documents are stored byte by byte as they are, with version, history and the claims of workers: there is no entry of
their own to give a reason for, and who imported them (--by) is recorded nowhere. Leases stay behind. What is there alike
counts as done, so repeating is safe.
Refused are documents that cannot be read as event streams, and, with --replace too, states older than that of the same
stream here, because versions never go back: to restore one, remove the stream first.
--replace asks, and so does every import into a protected store; from 50 streams on their number is typed.
`

export function register(parent: Command, runtime: Runtime, go: Run<ImportOptions> = run): void {
  const command = parent
    .command('import')
    .argument('<SOURCE...>', 'folders of an export, XML files, addresses of stores', sources)
    .addOption(new Option('--name <stream>', 'of a single file: the name it gets').argParser(nameOf))
    .addOption(
      new Option('--prefix <name>', 'put the streams below this name: archive/2026').argParser(text =>
        inFlag('--prefix', () => prefix(text)),
      ),
    )
    .addOption(
      new Option('--match <glob>', 'only those whose name in the source is like this').argParser(pattern('--match')),
    )
  transferFlags(command, 'streams that are there')
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: creates streams, which takes no lease; --replace takes the lease of each.',
    summary: 'puts streams from files or another store into this one',
    examples: [
      ['import backup/', 'a folder that export made'],
      ['import sqlite:leasectl.db --store azure:acct/container', 'moves a store; rm at the old one comes later'],
      ['import 4711.xml --name orders/4711', 'one document'],
      ['import backup/ --replace --dry-run', 'what would be written over'],
    ],
    formats: ['text', 'json', 'ndjson'],
  })
  act(command, runtime, 'writes', ['sources'], go)
}

function nameOf(text: string): string {
  return inFlag('--name', () => streamName(nonEmpty('--name')(text)))
}

function prefix(text: string): string {
  const name = nonEmpty('--prefix')(text).replace(/\/+$/, '')
  checkStreamName(`${name}/x`)
  return name
}

function sources(text: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, nonEmpty('SOURCE')(text)]
}

const run: Run<ImportOptions> = async (...given) => (await import('./import/run.ts')).importStreams(...given)
