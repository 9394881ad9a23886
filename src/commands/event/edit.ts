import type { Command } from 'commander'
import { type Run, writes } from '../../cli/command.ts'
import type { ChangeFlags, GlobalOptions } from '../../cli/options.ts'
import { UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { nonEmpty, streamName } from '../../cli/values.ts'

export interface EditCommandOptions extends GlobalOptions, ChangeFlags {
  readonly stream: string
  readonly file: string
}

const NOTES = `
The lease is required: from the read to the write no other program may change the stream. All that the document says counts
as it is written; a closing that follows from it is made at once. The history, the version and the incarnation of the stream
stay, whatever the document says of them, and what changed is one entry foreign with your name. A claim that the stored
stream does not have is not taken over. Use it where no other command helps: cancel, retry, skip and event set check what
they change.
`

/** `event edit STREAM FILE`: writes a whole document. */
export function registerEdit(parent: Command, runtime: Runtime, go: Run<EditCommandOptions> = runEdit): void {
  const command = parent
    .command('edit')
    .argument('<STREAM>', 'name of the stream', streamName)
    .argument('<FILE>', 'the document, as show -o xml prints it; - reads it from standard input', nonEmpty('FILE'))
  const description = {
    summary: 'write a whole document over a stream, under a lease of yours; its history stays',
    examples: [
      ['lease acquire orders/4711 -m repair', 'prints the id: id=$(…)'],
      ['show orders/4711 -o xml --lease-id $id > 4711.xml', 'read it under the lease, then change the file'],
      ['event edit orders/4711 4711.xml --lease-id $id -m "wrong key"', 'write it back'],
      ['lease release orders/4711 --lease-id $id', 'others can write again'],
    ],
  } as const
  writes(command, runtime, description, ['stream', 'file'], go)
  command.addHelpText('after', NOTES)
}

const runEdit: Run<EditCommandOptions> = async (options, runtime) => {
  const { stream, file, leaseId } = options
  if (leaseId === undefined) {
    throw new UsageError('event edit needs --lease-id, the id of a lease of yours', {
      hint: 'lease acquire STREAM prints it; read the document under it: show -o xml --lease-id ID.',
    })
  }
  const [{ changeOne }, { rewriteStream }, { readDocumentFile }] = await Promise.all([
    import('./run.ts'),
    import('../../ops/transact/rewrite.ts'),
    import('../transfer/files.ts'),
  ])
  const body = file === '-' ? await runtime.stdin.readBytes() : await readDocumentFile(file)
  if (body === undefined) throw new UsageError(`no such file: ${file}`)
  const change = {
    ...{ stream, options, word: 'edited', purpose: 'event edit' },
    operation: { op: 'settle' } as const,
    send: (store, target, how) => rewriteStream(store, target, body, { ...how, leaseId }),
  } satisfies Parameters<typeof changeOne>[0]
  return changeOne(change, runtime)
}
