import { type Command, Option } from 'commander'
import { act, describe, type Run } from '../cli/command.ts'
import type { Runtime } from '../cli/runtime.ts'
import { inFlag, leaseId, nonEmpty, pattern, streamName } from '../cli/values.ts'
import { checkStreamName } from '../store/names.ts'
import type { ImportOptions } from './import/run.ts'
import { transferFlags } from './transfer/flags.ts'

const NOTES = `
Documents are stored byte for byte, with version, history and claims of workers. An import makes no journal entry: who
imported what, when and why is in the audit log of the store (log --audit). Leases are not copied. Identical streams count
as done, so running it again is safe.
Documents that are not readable event streams are refused. So is a state older than that of the same stream here, even
with --replace, because versions never go back: to restore one, remove the stream first.
With --lease-id the events of the file replace those of the stream, whatever its state: the stream keeps its history and
incarnation, its version goes up by an entry foreign with your name, and claims that it does not have are not taken over.
--replace asks for confirmation, as does every import into a protected store; from 50 streams, type their number.
`

export function register(parent: Command, runtime: Runtime, go: Run<ImportOptions> = run): void {
  const command = parent
    .command('import')
    .argument('<SOURCE...>', 'folders of an export, XML files, addresses of stores', sources)
    .addOption(new Option('--name <stream>', 'stream name to use (one file only)').argParser(nameOf))
    .addOption(
      new Option('--prefix <name>', 'import the streams below this name: archive/2026').argParser(text =>
        inFlag('--prefix', () => prefix(text)),
      ),
    )
    .addOption(
      new Option('--match <glob>', 'import only streams whose source name matches').argParser(pattern('--match')),
    )
  transferFlags(command, 'streams that are there')
  command.addOption(
    new Option(
      '--lease-id <id>',
      'with --replace and one file: write it under this lease of yours; history and version of the stream stay',
    )
      .argParser(leaseId('--lease-id'))
      .helpGroup('Existing streams:'),
  )
  command.addHelpText('after', NOTES)
  describe(command, runtime, {
    kind: 'writes',
    effect: 'Writes: creates streams, which takes no lease; --replace takes the lease of each.',
    summary: 'import streams from files or another store',
    examples: [
      ['import backup/', 'a folder written by export'],
      [
        'import sqlite:leasectl.db --store azure:acct/container',
        'move a store; remove the streams from the old one later',
      ],
      ['import 4711.xml --name orders/4711', 'one document'],
      ['import backup/ --replace --dry-run', 'show which streams would be overwritten'],
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
