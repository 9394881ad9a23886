import { open, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { sameCommand } from '../../cli/command-line.ts'
import { errorProblem, interruptedProblem } from '../../cli/error-problem.ts'
import type { GlobalOptions } from '../../cli/options.ts'
import { openProgressLine } from '../../cli/output/progress-line.ts'
import { type Output, openOutput } from '../../cli/output.ts'
import { CommandFailed, type Problem, problem, UsageError } from '../../cli/problem.ts'
import type { Runtime } from '../../cli/runtime.ts'
import { openStoreFor } from '../../cli/store.ts'
import { jsonDocument } from '../../formats/json.ts'
import { counted } from '../../formats/terminal/numbers.ts'
import type { Inbox } from '../../inbox/inbox.ts'
import { LinesPut, type RejectedLine } from '../../inbox/put-lines.ts'
import { InboxWriter, PutUnknown, type RecordWriter } from '../../inbox/writer.ts'
import { StoreUnreachable } from '../../store/errors.ts'
import { sleepUntilAborted } from '../../util/concurrency.ts'
import { defined } from '../../util/defined.ts'
import { errorCode, messageOf } from '../../util/errors.ts'
import { fileIdentity } from '../../util/file-identity.ts'
import { visibleText } from '../../util/visible-text.ts'
import type { AlsoFlags } from './also.ts'
import { findInbox } from './find.ts'
import { type RecordFlags, recordFields } from './record-flags.ts'
import { openTwoRegions, type TwoRegions } from './regions.ts'
import { fileProblem, markOf, type PutProgress, readProgress, writeProgress } from './resume.ts'

export interface PutInboxOptions extends GlobalOptions, RecordFlags, AlsoFlags {
  readonly name: string
  /** None, or `-`: standard input. */
  readonly files: readonly string[]
  readonly rejects?: string
  readonly resume?: string
}

const STDIN = '-'
/** Between two looks at a store that is away, ms. */
const PAUSES_MS = [100, 300, 1_000, 2_000, 5_000] as const
/** For what is in flight after a signal, ms; the rest of the 10 s until the process is killed belongs to the store. */
const FINISH_MS = 7_500
const PROGRESS_MS = 200
const RESUME_MS = 1_000
/** Bad lines that are reported one by one. */
const MOST_TOLD = 20

/** Puts the lines of files, or of standard input, into an inbox. */
export async function putLines(options: PutInboxOptions, runtime: Runtime): Promise<Problem | undefined> {
  const files = options.files.length === 0 ? [STDIN] : options.files
  if (options.resume !== undefined && files.includes(STDIN))
    throw new UsageError('--resume needs files: standard input cannot be read again', { hint: 'Put a FILE.' })
  checkRejects(options, files)
  if (files.filter(file => file === STDIN).length > 1) throw new UsageError('standard input can be read once')
  const output = await openOutput(options, runtime)
  const store = await openStoreFor(options, runtime, output)
  const put = new Put(files, options, output, runtime)
  const writing = {
    again: (fault: unknown) => put.waitForStore(fault),
    tell: (sentence: string) => void put.say(sentence),
    signal: abortedAfter(runtime.signal, FINISH_MS),
    ...defined({ lingerMs: options.linger }),
  }
  const regions = await openTwoRegions(options.name, options, store, runtime, writing)
  const inbox = regions?.inbox ?? (await findInbox(store, options.name, runtime))
  const writer = regions?.writer ?? new InboxWriter(store, inbox, writing)
  if (files.includes(STDIN) && runtime.stdin.isTty)
    await output.say('reading records from the terminal, one a line; Ctrl-D ends')
  try {
    return await put.run(writer, inbox, regions)
  } finally {
    regions?.writer.close()
  }
}

/** Opening the file of the rejected lines empties it. @throws UsageError if it is an input, or the progress */
function checkRejects({ rejects, resume }: PutInboxOptions, files: readonly string[]): void {
  if (rejects === undefined) return
  const same = files.find(file => file !== STDIN && fileIdentity(resolve(file)) === fileIdentity(resolve(rejects)))
  if (same !== undefined)
    throw new UsageError(`--rejects is an input: ${visibleText(same)}`, { hint: 'Name another file for bad lines.' })
  if (resume !== undefined && fileIdentity(resolve(resume)) === fileIdentity(resolve(rejects)))
    throw new UsageError('--rejects and --resume are the same file', { hint: 'Name two files.' })
}

/** One run of the command. */
class Put {
  readonly #files: readonly string[]
  readonly #options: PutInboxOptions
  readonly #output: Output
  readonly #runtime: Runtime
  readonly #line: ReturnType<typeof openProgressLine>
  readonly #startedMs: number
  /** Of the files before the present one, and of runs before this. */
  #before: PutProgress = { files: 0, lines: 0, bytes: 0, put: 0, rejected: 0, marks: [] }
  #present: LinesPut | undefined
  #rejects: Awaited<ReturnType<typeof open>> | undefined
  #saveProgress: (progress: PutProgress) => Promise<void> = async () => {}
  #shownMs = 0
  /** Number of records that earlier runs put. */
  #firstPut = 0
  #savedMs = 0
  #told = 0
  #regions: TwoRegions | undefined
  #outage: { readonly put: number; pauses: number; waiting: Promise<void> | undefined } | undefined

  constructor(files: readonly string[], options: PutInboxOptions, output: Output, runtime: Runtime) {
    this.#files = files
    this.#options = options
    this.#output = output
    this.#runtime = runtime
    this.#line = openProgressLine(options, runtime)
    this.#startedMs = runtime.nowMs()
  }

  async run(writer: RecordWriter, inbox: Inbox, regions: TwoRegions | undefined): Promise<Problem | undefined> {
    const { rejects, resume, name } = this.#options
    this.#regions = regions
    let wasResumed = false
    if (resume !== undefined) {
      const [, also] = regions?.stores ?? []
      const { id, key, seq } = recordFields(this.#options)
      const identity = {
        ...{ inbox: name, store: this.#runtime.opened?.address ?? '' },
        ...defined({ also, created: regions === undefined ? inbox.createdMs : undefined }),
        fields: [id, key, seq].map(steps => JSON.stringify(steps ?? null)),
        files: this.#files.map(file => resolve(file)),
      }
      const found = await readProgress(resume, identity)
      wasResumed = found !== undefined
      this.#before = found ?? this.#before
      this.#firstPut = this.#before.put
      this.#saveProgress = progress => writeProgress(resume, identity, progress)
      if (found !== undefined) await this.#output.say(resumedText(found, this.#files))
      // Before anything is put: a file that cannot be written would be found too late.
      await this.#save()
    }
    if (rejects !== undefined) {
      if (!wasResumed) await checkIsEmpty(rejects)
      this.#rejects = await open(rejects, wasResumed ? 'a' : 'w').catch((error: unknown) => {
        throw fileProblem(rejects, 'written', error)
      })
    }
    let fault: { readonly error: unknown } | undefined
    try {
      while (this.#before.files < this.#files.length)
        await this.#putFile(writer, this.#files[this.#before.files] ?? STDIN)
    } catch (error) {
      fault = { error }
    }
    await this.#save().catch((error: unknown) => {
      fault ??= { error }
    })
    await this.#rejects?.close()
    await this.#line.clear()
    return this.#ended(fault)
  }

  async #putFile(writer: RecordWriter, file: string): Promise<void> {
    const { lines, bytes } = this.#before
    const put = new LinesPut(writer, {
      fields: recordFields(this.#options),
      rejected: rejected => this.#reject(file, rejected),
      progressed: () => this.#progressed(),
      from: { lines, bytes },
    })
    this.#present = put
    const path = file === STDIN ? undefined : file
    await put.run(readable(this.#runtime.readBytes(path, bytes), path))
    const done = this.#progress()
    const marks = [...this.#before.marks.slice(0, done.files), await this.#mark(file, done.bytes)]
    this.#before = { ...done, files: done.files + 1, lines: 0, bytes: 0, marks }
    this.#present = undefined
  }

  /** Up to where all lines are durable or rejected, and how many. */
  #progress(): PutProgress {
    const { acknowledged } = this.#present ?? {}
    if (acknowledged === undefined) return this.#before
    const { files, put, rejected, marks } = this.#before
    return { files, ...acknowledged, put: put + acknowledged.put, rejected: rejected + acknowledged.rejected, marks }
  }

  /** With the lines behind those of `#progress`. */
  #totals(): { readonly put: number; readonly rejected: number } {
    const { put, rejected } = this.#before
    return { put: put + (this.#present?.put ?? 0), rejected: rejected + (this.#present?.rejected ?? 0) }
  }

  /** Nothing without `--resume`. */
  async #mark(file: string, bytes: number): Promise<string> {
    return this.#options.resume === undefined ? '' : markOf(file, bytes)
  }

  async #reject(file: string, { line, why }: RejectedLine): Promise<void> {
    this.#told += 1
    const where = file === STDIN ? `line ${line.number}` : `${visibleText(file)}:${line.number}`
    if (this.#told <= MOST_TOLD) {
      await this.say(`${where}: ${visibleText(why)}`)
    }
    if (this.#told === MOST_TOLD + 1) await this.#output.say('further bad lines are only counted')
    await this.#rejects?.write(Buffer.concat([line.bytes, LINE_FEED])).catch(this.#failedRejects)
  }

  readonly #failedRejects = (error: unknown): never => {
    throw fileProblem(this.#options.rejects ?? '', 'written', error)
  }

  async #progressed(): Promise<void> {
    await this.#noteEndOfOutage()
    const nowMs = this.#runtime.nowMs()
    if (nowMs - this.#shownMs >= PROGRESS_MS && this.#outage === undefined) {
      this.#shownMs = nowMs
      const { put, rejected } = this.#totals()
      const rate = Math.round(((put - this.#firstPut) * 1_000) / Math.max(1, nowMs - this.#startedMs))
      await this.#line.show(`${counted(put, 'record')} put${rejected === 0 ? '' : `, ${rejected} rejected`}, ${rate}/s`)
    }
    if (nowMs - this.#savedMs < RESUME_MS) return
    await this.#save()
  }

  async #save(): Promise<void> {
    this.#savedMs = this.#runtime.nowMs()
    const progress = this.#progress()
    // The rejected lines first: they are not read again.
    await this.#rejects?.datasync().catch((error: unknown) => {
      // A pipe or a terminal cannot be synced.
      if (errorCode(error) !== 'EINVAL') this.#failedRejects(error)
    })
    const file = this.#files[progress.files]
    const marks = progress.marks.slice(0, progress.files)
    if (file !== undefined && progress.bytes > 0) marks.push(await this.#mark(file, progress.bytes))
    await this.#saveProgress({ ...progress, marks })
  }

  async #noteEndOfOutage(): Promise<void> {
    if (this.#outage === undefined || this.#totals().put === this.#outage.put) return
    this.#outage = undefined
    await this.#output.say(`${this.#regions === undefined ? 'the' : 'a'} store answers again`)
  }

  /** A sentence on stderr, in place of the progress. */
  async say(sentence: string): Promise<void> {
    await this.#line.clear()
    await this.#output.say(sentence)
  }

  /** Waits while the store is away; all partitions together. Told once per outage. */
  async waitForStore(fault: unknown): Promise<boolean> {
    const { signal } = this.#runtime
    await this.#noteEndOfOutage()
    if (signal.aborted || !(fault instanceof StoreUnreachable || fault instanceof PutUnknown)) return false
    if (this.#outage === undefined) {
      this.#outage = { put: this.#totals().put, pauses: 0, waiting: undefined }
      const which = this.#regions === undefined ? 'the store' : 'one of the two stores'
      await this.say(`${visibleText(messageOf(fault))}; waiting for ${which}, nothing is lost (Ctrl-C to stop)`)
    }
    const outage = this.#outage
    outage.waiting ??= sleepUntilAborted(PAUSES_MS[Math.min(outage.pauses++, PAUSES_MS.length - 1)] ?? 0, signal).then(
      () => {
        outage.waiting = undefined
      },
    )
    await outage.waiting
    return !signal.aborted
  }

  async #ended(fault: { readonly error: unknown } | undefined): Promise<Problem | undefined> {
    const { output: format } = this.#options
    const { put, rejected } = this.#totals()
    const tookMs = this.#runtime.nowMs() - this.#startedMs
    const { name } = this.#options
    const only = onlyIn(this.#regions)
    if (format === 'json') {
      const isComplete = fault === undefined
      await this.#output.text(jsonDocument({ inbox: name, put, rejected, regions: only ?? null, isComplete, tookMs }))
    } else {
      const one = (only ?? []).filter(region => region.only > 0)
      const more = [
        ...one.map(region => `, ${region.only} of them only in ${visibleText(region.store)}`),
        ...(rejected === 0 ? [] : [`, ${counted(rejected, 'bad line')}`]),
      ].join('')
      await this.#output.lines([
        `${rejected === 0 && fault === undefined ? '✓' : '✗'} ${name}  ${counted(put, 'record')} put${more}`,
      ])
    }
    if (fault !== undefined) return this.#stopped(fault.error)
    if (rejected === 0) return undefined
    const kept =
      this.#options.rejects === undefined ? 'keep them with --rejects FILE' : `they are in ${this.#options.rejects}`
    return problem(
      'batch-incomplete',
      `${counted(rejected, 'line')} of the input ${rejected === 1 ? 'is' : 'are'} not put`,
      {
        applied: 'yes',
        hint: visibleText(`Mend and put them again; ${kept}.`),
      },
    )
  }

  /** The problem of a put that was interrupted, or failed: what is put, and how to go on. */
  #stopped(error: unknown): Problem {
    const { signal } = this.#runtime
    const what = signal.aborted ? interruptedProblem(signal) : errorProblem(error, this.#runtime)
    const put = this.#totals().put - this.#firstPut
    const isUnknown = error instanceof StoreUnreachable || error instanceof PutUnknown
    if (put === 0 && !isUnknown) return what
    return {
      ...what,
      message: put === 0 ? what.message : `${what.message}: ${counted(put, 'record')} ${put === 1 ? 'is' : 'are'} put`,
      applied: put === 0 ? 'unknown' : 'yes',
      hint: [...(what.hint === undefined ? [] : [what.hint]), this.#wayOn()].join(' '),
      ...(this.#files.includes(STDIN) ? {} : { tryCommand: sameCommand(this.#runtime) }),
    }
  }

  #wayOn(): string {
    const { files, lines, rejected } = this.#progress()
    const file = this.#files[files]
    const where = file === undefined || file === STDIN ? '' : ` of ${visibleText(file)}`
    const upTo = lines === 0 ? '' : `All up to line ${lines}${where} is ${rejected === 0 ? 'put' : 'put or rejected'}. `
    if (this.#options.resume !== undefined) return `${upTo}The same command goes on there.`
    const again = 'Put the same again: the id makes a record once.'
    return `${upTo}${again}${this.#files.includes(STDIN) ? '' : ' With --resume FILE a put goes on where it stopped.'}`
  }
}

/** The records of this run that one region alone had when they were acknowledged. */
function onlyIn(regions: TwoRegions | undefined) {
  if (regions === undefined) return undefined
  const { first, second } = regions.writer.counts
  return [
    { store: regions.stores[0], only: first },
    { store: regions.stores[1], only: second },
  ]
}

/** Aborts so long after another signal. */
function abortedAfter(signal: AbortSignal, afterMs: number): AbortSignal {
  const later = new AbortController()
  const wait = () => setTimeout(() => later.abort(), afterMs).unref()
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait, { once: true })
  return later.signal
}

const LINE_FEED = Buffer.from('\n')

/** The bytes of an input, with errors of the file as problems. */
async function* readable(source: AsyncIterable<Uint8Array>, path: string | undefined): AsyncGenerator<Uint8Array> {
  try {
    yield* source
  } catch (error) {
    if (error instanceof CommandFailed || errorCode(error) === undefined || errorCode(error) === 'ABORT_ERR')
      throw error
    throw fileProblem(path ?? 'standard input', 'read', error)
  }
}

function resumedText({ files, lines, put }: PutProgress, all: readonly string[]): string {
  const file = all[files]
  return file === undefined
    ? `all was put before: ${counted(put, 'record')}`
    : `going on behind line ${lines} of ${visibleText(file)}; ${counted(put, 'record')} put before`
}

/** Bad lines of an earlier run may not be mended yet. @throws UsageError */
async function checkIsEmpty(rejects: string): Promise<void> {
  const found = await stat(rejects).catch(() => undefined)
  if (found === undefined || !found.isFile() || found.size === 0) return
  throw new UsageError(`--rejects ${rejects} is there, and not empty: its lines would be lost`, {
    hint: 'Put them first, or name another file.',
  })
}
