import type { Summary } from '../../stream/summary.ts'
import { checkStoredName } from '../names.ts'
import type { CreateOutcome } from '../store.ts'
import type { AzureBodies } from './blobs.ts'
import { isHeldByAnother, isSomebodyWrote } from './errors.ts'
import type { AzureCalls } from './requests.ts'

/** One Put that succeeds only if nothing has the name. Of one that was given up while it was under way nothing is known. */
export async function createBlob(
  { calls, bodies }: { readonly calls: AzureCalls; readonly bodies: AzureBodies },
  name: string,
  content: { readonly body: Uint8Array; readonly summary: Summary },
  signal: AbortSignal | undefined,
): Promise<CreateOutcome> {
  signal?.throwIfAborted()
  checkStoredName(name)
  const answer = await bodies.put(name, { ...content, signal }).catch(error => {
    if (signal?.aborted) return { kind: 'given up', error } as const
    throw error
  })
  if (answer.kind === 'given up') return { kind: 'unknown', cause: answer.error }
  if (answer.kind === 'done') return { kind: 'created', etag: answer.value.etag }
  const { error } = answer
  if (isSomebodyWrote(error) || isHeldByAnother(error)) return { kind: 'exists' }
  const fault = calls.fault(error, name)
  if (answer.kind === 'refused' || answer.silences === 0) throw fault
  return { kind: 'unknown', cause: fault }
}
