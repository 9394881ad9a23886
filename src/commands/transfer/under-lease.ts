import { missingProblem, outcomeProblem } from '../../cli/outcome-problem.ts'
import { CommandFailed } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { transactOptions } from '../../cli/store.ts'
import type { CopyOutcome } from '../../ops/copy.ts'
import { copyDataOf } from '../../ops/copy-data.ts'
import { readStream } from '../../ops/read-stream.ts'
import { parseBody } from '../../ops/transact/plan.ts'
import { rewriteStream } from '../../ops/transact/rewrite.ts'
import type { StreamStore } from '../../store/store.ts'
import type { TransferFlags } from './flags.ts'
import type { Item } from './item.ts'

/** Writes a document over its stream, under a lease of the caller, with its data first. @throws CommandFailed if it is not written */
export async function rewriteUnderLease(
  store: StreamStore,
  { name, readData }: Item,
  body: Uint8Array,
  flags: TransferFlags & { readonly leaseId: string },
  runtime: Runtime,
): Promise<CopyOutcome> {
  const commandId = runtime.newId()
  const options = { ...transactOptions(flags, commandId, 'import', runtime), leaseId: flags.leaseId }
  const before = await readStream(store, name, runtime.signal)
  if (before === undefined) throw new CommandFailed(missingProblem(name))
  const life = { stream: name, born: before.document.born }
  if (!flags.withoutData && life.born !== '') await copyDataOf(parseBody(body, name), store, life, options.by, readData)
  const outcome = await rewriteStream(store, name, body, options)
  if (outcome.kind !== 'done') throw new CommandFailed(outcomeProblem(name, outcome, commandId, runtime))
  const { outcome: word, version } = outcome.result
  return { kind: word === 'done' ? 'replaced' : 'already', version }
}
