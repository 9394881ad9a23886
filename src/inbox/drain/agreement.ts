import { INBOXES } from '../../ops/read-system-document.ts'
import { changeSystemDocument } from '../../ops/system-documents.ts'
import { plainText, systemFields, systemText, wholeNumber } from '../../ops/system-fields.ts'
import type { StreamStore } from '../../store/store.ts'
import type { Inbox } from '../inbox.ts'
import type { DrainWork } from './work.ts'

const KIND = 'inbox-drain'

/** Whether a drain does what the drains of the inbox have done so far. */
export type AgreementOutcome =
  | { readonly kind: 'agreed' }
  /** Others do something else: their work in one line, who began it, and when, epoch ms. */
  | { readonly kind: 'different'; readonly description: string; readonly by: string; readonly atMs: number }
  | { readonly kind: 'busy' | 'unknown' }

/**
 * All drains of an inbox do the same with its records: the first one writes what that is. `force` replaces it.
 * @throws `BadDocument`, `StoreIncompatible` unless `force`; the store's faults
 */
export async function agreeOnWork(
  store: StreamStore,
  inbox: Inbox,
  { description, fingerprint }: Pick<DrainWork, 'description' | 'fingerprint'>,
  { by, force, signal }: { readonly by: string; readonly force: boolean; readonly signal?: AbortSignal },
): Promise<AgreementOutcome> {
  const name = `${INBOXES}${inbox.name}/drain.json`
  const wanted = systemText(KIND, { fingerprint, description, by, atMs: store.nowMs() })
  let other: AgreementOutcome | undefined
  const change = (text: string | undefined): string | undefined => {
    other = undefined
    if (text === undefined || force) return text === wanted ? undefined : wanted
    const found = systemFields(name, text, KIND)
    if (found.fingerprint === fingerprint) return undefined
    other = {
      ...{ kind: 'different', description: plainText(name, 'description', found.description) },
      ...{ by: plainText(name, 'by', found.by), atMs: wholeNumber(name, 'atMs', found.atMs) },
    }
    return undefined
  }
  const options = { by, purpose: `draining the inbox ${inbox.name}`, ...(signal && { signal }) }
  const outcome = await changeSystemDocument(store, name, change, options)
  if (outcome === 'busy' || outcome === 'unknown') return { kind: outcome }
  return other ?? { kind: 'agreed' }
}
