import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { sleepUntilAborted } from '../util/concurrency.ts'

/** Running programs, each in its own process group. They are killed when this process exits, even after a second signal. */
export class RunningGroups {
  readonly #children = new Set<ChildProcess>()

  add(child: ChildProcess): void {
    if (this.#children.size === 0) process.on('exit', this.#end)
    this.#children.add(child)
  }

  delete(child: ChildProcess): void {
    this.#children.delete(child)
    if (this.#children.size === 0) process.off('exit', this.#end)
  }

  /** At exit nothing can be awaited. */
  readonly #end = (): void => {
    for (const child of this.#children) signalGroup(child, 'SIGKILL')
  }
}

/** False if the group has no process any more. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Interval for checking whether a group has ended, ms. */
const CHECK_MS = 50

export interface StopOptions {
  /** Time from the first signal to SIGKILL, ms. */
  readonly graceMs: number
  /** Waits; tests pass their own. */
  readonly pause?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined
  /** Called if it has not ended in the same time after SIGKILL. */
  readonly abandon?: (() => void) | undefined
}

/**
 * Ends the group of a program when `signal` aborts: signals it, and kills it after the grace period. Resolves when the program
 * has ended by itself, or the whole group was ended.
 *
 * @param ended resolves when the program, the leader of its group, has ended
 */
export async function stopGroupOn(
  signal: AbortSignal,
  child: ChildProcess,
  ended: Promise<unknown>,
  { graceMs, pause = sleepUntilAborted, abandon }: StopOptions,
): Promise<void> {
  const over = new AbortController()
  let stopping: Promise<void> | undefined
  const end = async () => {
    await stopGroup(child, signalIn(signal.reason), { graceMs, pause }, over.signal)
    if (abandon === undefined) return
    await pause(graceMs, over.signal)
    if (!over.signal.aborted) abandon()
  }
  const stop = () => {
    stopping = end()
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  await ended
  signal.removeEventListener('abort', stop)
  over.abort()
  await stopping
}

/** @param over aborts when the program itself has ended; other processes of its group may still run */
async function stopGroup(
  child: ChildProcess,
  first: NodeJS.Signals,
  { graceMs, pause }: { readonly graceMs: number; readonly pause: NonNullable<StopOptions['pause']> },
  over: AbortSignal,
): Promise<void> {
  const sinceMs = performance.now()
  signalGroup(child, first)
  // A stopped process (SIGSTOP, Ctrl-Z) handles no other signal before it continues.
  signalGroup(child, 'SIGCONT')
  await pause(graceMs, over)
  while (lives(child) && performance.now() - sinceMs < graceMs) await sleepUntilAborted(CHECK_MS)
  signalGroup(child, 'SIGKILL')
}

/** Whether a process of the group is alive. In a container zombies may remain, because nothing reaps them. */
function lives(child: ChildProcess): boolean {
  if (!signalGroup(child, 0)) return false
  try {
    return readdirSync('/proc').some(name => /^\d+$/.test(name) && isAliveIn(name, child.pid))
  } catch {
    // Not Linux: assume that it is alive.
    return true
  }
}

function isAliveIn(id: string, group: number | undefined): boolean {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'utf8')
    const [state, , pgrp] = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return Number(pgrp) === group && state !== 'Z'
  } catch {
    return false
  }
}

/** The signal named by the abort reason; default SIGTERM. */
function signalIn(reason: unknown): NodeJS.Signals {
  return typeof reason === 'string' && Object.hasOwn(constants.signals, reason) ? (reason as NodeJS.Signals) : 'SIGTERM'
}
