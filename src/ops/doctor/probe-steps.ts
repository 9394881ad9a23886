import { ServiceError } from '../../store/azure/errors.ts'
import { NotPermitted } from '../../store/errors.ts'
import { LeasectlError } from '../../stream/errors.ts'

/** What a probe tries, in this order. The first two change nothing. */
export const PROBED = ['list', 'read', 'create', 'lease', 'write', 'release', 'remove'] as const
export type Probed = (typeof PROBED)[number]

/** One thing that was tried at a store, and how it went. */
export interface ProbeStep {
  readonly name: Probed
  /** `refused`: the right is missing. `failed`: anything else. `skipped`: a step before left it no sense. */
  readonly outcome: 'ok' | 'refused' | 'failed' | 'skipped'
  /** How long it took; 0 if skipped. */
  readonly ms: number
  /** Of a step that was refused or failed: a stable code, as errors and outcomes have it. */
  readonly code?: string
  readonly message?: string
  /** What to do about it, a sentence. */
  readonly hint?: string
}

/** An outcome of the store that a probe does not expect: nobody else knows its name. */
export class UnexpectedOutcome extends Error {
  readonly code: string

  constructor({ kind, cause }: { readonly kind: string; readonly cause?: unknown }) {
    const isSilence = kind === 'unknown'
    super(isSilence ? 'the answer never came' : `the store says "${kind}"`, { cause })
    this.code = isSilence ? 'store-unreachable' : 'probe-failed'
  }
}

/** Why a step did not succeed. Bugs are thrown on. */
export function unsuccessful(name: Probed, error: unknown): Omit<ProbeStep, 'ms'> {
  if (error instanceof UnexpectedOutcome) return { name, outcome: 'failed', code: error.code, message: error.message }
  if (error instanceof DOMException && error.name === 'TimeoutError') {
    const hint = 'Try again; if it lasts, check the network, or what else uses the store.'
    return { name, outcome: 'failed', code: 'store-unreachable', message: 'no answer in time', hint }
  }
  if (!(error instanceof LeasectlError)) throw error
  const { code, message, hint } = error
  const refused = error instanceof NotPermitted
  const advice = refused ? (rightMissing(name, error) ?? hint) : hint
  return {
    name,
    outcome: refused ? 'refused' : 'failed',
    code,
    message,
    ...(advice === undefined ? {} : { hint: advice }),
  }
}

/** What the service says when the credential is good and the right is missing, be it a role or a letter of a SAS. */
const RIGHT_MISSING = /^Authorization(Permission|ResourceType|Service)Mismatch$/

const CONTRIBUTOR = 'Storage Blob Data Contributor'
/** Built-in roles that have the right, and the letter in the permissions of a SAS. */
const RIGHTS: { readonly [Name in Probed]: readonly [role: string, letter: string] } = {
  list: ['Storage Blob Data Reader', 'l'],
  read: ['Storage Blob Data Reader', 'r'],
  create: [CONTRIBUTOR, 'c'],
  lease: [CONTRIBUTOR, 'w'],
  write: [CONTRIBUTOR, 'w'],
  release: [CONTRIBUTOR, 'w'],
  remove: [CONTRIBUTOR, 'd'],
}

function rightMissing(name: Probed, { cause }: NotPermitted): string | undefined {
  if (!(cause instanceof ServiceError) || !RIGHT_MISSING.test(cause.code)) return undefined
  const [role, letter] = RIGHTS[name]
  return `Ask for the role ${role} on this container, or for a SAS with the permission ${letter}.`
}
