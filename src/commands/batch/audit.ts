import { errorProblem } from '../../cli/error-problem.ts'
import { type Problem, problem } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import {
  AUDIT_LOG,
  type AuditEntry,
  type AuditedOperation,
  beginAuditEntry,
  endAuditEntry,
} from '../../ops/audit-log.ts'
import type { SystemDocumentOutcome } from '../../ops/system-documents.ts'
import { ContainerMissing } from '../../store/errors.ts'
import type { StreamStore } from '../../store/store.ts'

/** How a command is recorded in the audit log. */
export interface AuditedAs {
  readonly op: AuditedOperation
  /** The command changes nothing if its entry cannot be written; otherwise it warns and continues. */
  readonly isRequired: boolean
}

/** What is recorded of a command. */
export interface Audited {
  readonly store: StreamStore
  readonly by: string
  readonly why: string | undefined
  readonly commandId: string
  /** Number of streams to be changed, if known. */
  readonly streams?: number
  readonly names?: readonly string[]
  readonly source?: string
}

/** The entry of one command in the audit log. */
export interface Audit {
  /** Writes the entry, before the first change. Returns the problem if nothing may be changed. */
  begin(): Promise<Problem | undefined>
  /** Adds the outcomes. @param changed names of changed streams, for a command that did not know them before */
  end(outcomes: readonly string[], changed?: readonly string[]): Promise<void>
}

/** @param warn gets a sentence if the log cannot be written and the command continues */
export function openAudit(
  { op, isRequired }: AuditedAs,
  { store, by, why = '', commandId, streams, names = [], source = '' }: Audited,
  runtime: Runtime,
  warn: (sentence: string) => void,
): Audit {
  const id = runtime.newId()
  const nowIso = () => new Date(store.nowMs()).toISOString()
  const common = { id, by, host: runtime.host, op, why, commandId, source }
  let entry: AuditEntry = { ...common, at: '', streams, names, end: undefined }
  return {
    async begin() {
      const write = async () => {
        await store.learnTime?.(AUDIT_LOG, runtime.signal)
        entry = { ...entry, at: nowIso() }
        return beginAuditEntry(store, entry, { by })
      }
      const why = await failureOf(write, runtime)
      if (why === undefined) return undefined
      // Removing makes room.
      if (isRequired && why.code !== 'store-full') return { ...why, message: `${why.message}; nothing was changed` }
      warn(`not in the audit log: ${why.message}`)
      return undefined
    },
    async end(outcomes, changed = names) {
      const counts: Record<string, number> = {}
      for (const word of outcomes) counts[word] = (counts[word] ?? 0) + 1
      const ended = { ...entry, names: changed, end: { at: nowIso(), counts } }
      const why = await failureOf(() => endAuditEntry(store, ended, { by }), runtime)
      if (why !== undefined) warn(`the audit log has no end of this command: ${why.message}`)
    },
  }
}

/** Why the audit log was not written; `undefined` if it was. */
async function failureOf(write: () => Promise<SystemDocumentOutcome>, runtime: Runtime): Promise<Problem | undefined> {
  try {
    const outcome = await write()
    if (outcome === 'busy') return problem('lease-held', 'the audit log of the store is leased by another')
    if (outcome === 'unknown')
      return problem('store-unreachable', 'the store did not answer the write of the audit log')
    return undefined
  } catch (error) {
    // An import may create the container and repeat.
    if (error instanceof ContainerMissing) throw error
    return errorProblem(error, runtime)
  }
}
