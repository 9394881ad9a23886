/**
 * A process that runs commands with ids that others use at the same moment.
 * Arguments: the built library, store address, write mode. It reports its results for each stream its parent sends.
 */
const [library = '', address = '', write = ''] = process.argv.slice(2)
const { onJoined, openStore, transact }: typeof import('../../src/index.ts') = await import(library)
const store = await openStore(address, process.env)
/** All callers create the same stream. */
const BORN = '0f8fad5b-d9cb-469f-a165-70867728950e'
const mode = write === 'optimistic' ? 'optimistic' : 'lease'

process.on('message', (stream: string) => void answer(stream))
process.on('disconnect', () => void store.close().then(() => process.exit()))
process.send?.('ready')

export type Told = {
  readonly init: string
  readonly complete: string
  /** The join that each call of `onJoined` was for, and whether it was marked as a duplicate. */
  readonly joined: readonly { readonly join: string; readonly duplicate: boolean }[]
}

async function answer(stream: string): Promise<void> {
  const joined: { join: string; duplicate: boolean }[] = []
  const how = { by: 'crew', write: mode, leaseWaitMs: 100_000 } as const
  const root = { name: 'Start' }
  const init = { op: 'init', root, forks: [{ name: 'A' }], join: { name: 'Sum' }, hold: false, born: BORN } as const
  const complete = { op: 'complete', event: '01.00' } as const
  const told: Told = {
    init: wordOf(await transact(store, stream, init, { ...how, commandId: 'shared:init' })),
    complete: wordOf(
      await transact(store, stream, complete, {
        ...how,
        commandId: 'shared:complete',
        afterWrite: onJoined((join, { duplicate }) => void joined.push({ join, duplicate })),
      }),
    ),
    joined,
  }
  process.send?.(told)
}

function wordOf(outcome: Awaited<ReturnType<typeof transact>>): string {
  if (outcome.kind !== 'done') return outcome.kind
  return outcome.result.duplicate ? 'duplicate' : 'done'
}
