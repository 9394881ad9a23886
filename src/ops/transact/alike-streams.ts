import { randomUUID } from 'node:crypto'
import { checkStreamName } from '../../store/names.ts'
import type { CreateOutcome, StreamStore } from '../../store/store.ts'
import { dataOf, type EventData, isBeside } from '../../stream/data.ts'
import { EMPTY_DOCUMENT } from '../../stream/document.ts'
import { MAX_WRITTEN_BYTES } from '../../stream/limits.ts'
import { canonicalJson, commandText, hashOfCommand } from '../../stream/operations/command-hash.ts'
import type { Authorship, Operation } from '../../stream/operations/operation.ts'
import type { Summary } from '../../stream/summary.ts'
import { checkCommandId } from '../../stream/text.ts'
import { dataElements } from '../../stream/xml/data.ts'
import { escapeAttribute } from '../../stream/xml/text.ts'
import { applyGroup } from './plan.ts'
import { pendingOperation, type TransactOptions, type TransactOutcome, transactAsFound } from './transact.ts'

/** What streams that are alike begin with; each root has an input of its own. */
export type AlikeInit = Omit<Extract<Operation, { op: 'init' }>, 'born'>

type AlikeOptions = Omit<TransactOptions, 'commandId'>

/** How long a rendered document gives its time to others, ms. */
const SAME_TIME_MS = 10

/**
 * Creates streams that differ in their inputs and command ids only. What is the same in all of them is rendered once for all
 * that are created within 10 ms, whose times are then the same.
 */
export class AlikeStreams {
  readonly #store: StreamStore
  readonly #init: AlikeInit
  readonly #options: AlikeOptions
  /** One was created, so that the others can be. */
  #isProven = false
  #rendered: { readonly document: RenderedDocument | undefined; readonly atMs: number } | undefined

  constructor(store: StreamStore, init: AlikeInit, options: AlikeOptions) {
    this.#store = store
    this.#init = init
    this.#options = options
  }

  /** As `transact` with the operation; `created` without further results. */
  async create(
    name: string,
    input: EventData,
    commandId: string,
  ): Promise<TransactOutcome | { readonly kind: 'created' }> {
    const created = this.#isProven ? await this.#createRendered(name, input, commandId) : undefined
    if (created?.kind === 'created') return { kind: 'created' }
    // It may be there, from this command or from another: that is found out under its lease.
    const operation = initWith(this.#init, input, randomUUID())
    const options = { ...this.#options, commandId }
    const outcome = await transactAsFound(this.#store, name, operation, options, {
      isTaken: created?.kind === 'exists',
    })
    this.#isProven ||= outcome.kind === 'done'
    return outcome
  }

  /** `undefined` if it cannot be rendered. */
  async #createRendered(name: string, input: EventData, commandId: string): Promise<CreateOutcome | undefined> {
    if (isBeside(input)) return undefined
    checkStreamName(name)
    checkCommandId(commandId)
    const { signal } = this.#options
    await this.#store.learnTime?.(name, signal)
    const born = randomUUID()
    const { body, summary } = this.#document()?.with({ born, commandId, nonce: born.slice(0, 8), input }) ?? {}
    if (body === undefined || summary === undefined || body.length > MAX_WRITTEN_BYTES) return undefined
    return this.#store.create(name, body, summary, signal)
  }

  #document(): RenderedDocument | undefined {
    const nowMs = this.#store.nowMs()
    const ageMs = nowMs - (this.#rendered?.atMs ?? Number.NEGATIVE_INFINITY)
    if (this.#rendered === undefined || ageMs < 0 || ageMs >= SAME_TIME_MS)
      this.#rendered = { document: RenderedDocument.of(this.#init, this.#options, nowMs), atMs: nowMs }
    return this.#rendered.document
  }
}

function initWith(init: AlikeInit, data: EventData, born: string): Operation {
  return { ...init, root: { ...init.root, data }, born }
}

/** What is different in each stream. */
interface OwnValues {
  readonly born: string
  readonly commandId: string
  readonly nonce: string
  readonly input: EventData
}

/** The document of one stream, cut where those of others differ from it. */
export class RenderedDocument {
  readonly #parts: readonly string[]
  readonly #command: readonly string[]
  readonly #summary: Summary

  private constructor(parts: readonly string[], command: readonly string[], summary: Summary) {
    this.#parts = parts
    this.#command = command
    this.#summary = summary
  }

  /** `undefined` if the operation is refused. */
  static of(init: AlikeInit, author: Omit<Authorship, 'commandId'>, nowMs: number): RenderedDocument | undefined {
    const [born, commandId] = [randomUUID(), randomUUID()]
    const input = dataOf(Buffer.from(randomUUID()), 'application/json')
    const operation = initWith(init, input, born)
    const pending = pendingOperation(operation, { ...author, commandId })
    const { decision } = applyGroup([pending], { body: new Uint8Array(), versionFloor: EMPTY_DOCUMENT.version }, nowMs)
    if (decision.kind !== 'put') return undefined
    const command = cut(commandText(operation, pending.author), [canonicalJson(input)])
    const own = ownTexts({ born, commandId, nonce: pending.nonce, input }, command)
    return new RenderedDocument(cut(Buffer.from(decision.body).toString(), own), command, decision.summary)
  }

  /** The document of another stream. */
  with(own: OwnValues): { readonly body: Uint8Array; readonly summary: Summary } {
    const text = fill(this.#parts, ownTexts(own, this.#command))
    return { body: Buffer.from(text), summary: { ...this.#summary, born: own.born } }
  }
}

/** As they stand in the document, in this order. */
function ownTexts({ born, commandId, nonce, input }: OwnValues, command: readonly string[]): string[] {
  const hash = hashOfCommand(fill(command, [canonicalJson(input)]))
  return [born, dataElements({ input }, 'lc'), escapeAttribute(commandId), nonce, hash]
}

/** The text around these others, which it holds in this order. */
function cut(text: string, others: readonly string[]): string[] {
  let from = 0
  const parts = others.map(other => {
    const at = text.indexOf(other, from)
    if (at < 0) throw new Error(`${other} is not in the text`)
    const part = text.slice(from, at)
    from = at + other.length
    return part
  })
  return [...parts, text.slice(from)]
}

function fill(parts: readonly string[], others: readonly string[]): string {
  return parts.map((part, at) => part + (others[at] ?? '')).join('')
}
