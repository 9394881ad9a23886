/**
 * A process that changes one stream many times, in competition with others.
 * Arguments: the built library, store address, stream, name of this process, number of changes, how many at a time.
 * Prints one JSON line: the version each of its changes got.
 */
const [library = '', address = '', stream = '', name = '', count = '0', atATime = '1'] = process.argv.slice(2)
const { openStore, transact }: typeof import('../../src/index.ts') = await import(library)
const store = await openStore(address, process.env)
const versions: Record<string, number> = {}
for (let at = 0; at < Number(count); at += Number(atATime)) {
  const batch = Array.from({ length: Number(atATime) }, (_, offset) => `${name}-${at + offset}`)
  await Promise.all(batch.map(change))
}
await store.close()
process.stdout.write(`${JSON.stringify(versions)}\n`)

async function change(commandId: string): Promise<void> {
  const operation = { op: 'set', event: '00', attributes: { tag: commandId } } as const
  const outcome = await transact(store, stream, operation, { commandId, by: name, leaseWaitMs: 180_000 })
  if (outcome.kind !== 'done' || outcome.result.duplicate) throw new Error(`${commandId}: ${JSON.stringify(outcome)}`)
  versions[commandId] = outcome.result.version
}
