import type { ChildProcess } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { sleepUntilAborted } from '../util/concurrency.ts'

/** Programs under way, each with a group of its own: whatever ends this process, even a second signal, ends them too. */
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

  /** At the exit of a process nothing can be waited for. */
  readonly #end = (): void => {
    for (const child of this.#children) signalGroup(child, 'SIGKILL')
  }
}

/** False if nobody of the group is there any more. */
export function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** How often it is looked whether a group has ended, ms. */
const LOOK_MS = 50

/**
 * Ends the group of a program once `signal` aborts: it is asked to end, and killed after the grace. Resolves when the program
 * has ended by itself, or all of its group were ended.
 *
 * @param ended resolves when the program, the first of its group, has ended
 */
export async function stopGroupOn(
  signal: AbortSignal,
  child: ChildProcess,
  ended: Promise<unknown>,
  graceMs: number,
): Promise<void> {
  const over = new AbortController()
  let stopping: Promise<void> | undefined
  const stop = () => {
    stopping = stopGroup(child, signalIn(signal.reason), graceMs, over.signal)
  }
  if (signal.aborted) stop()
  signal.addEventListener('abort', stop, { once: true })
  await ended
  signal.removeEventListener('abort', stop)
  over.abort()
  await stopping
}

/** @param over aborts when the program itself has ended; others of its group may still be there */
async function stopGroup(child: ChildProcess, first: NodeJS.Signals, graceMs: number, over: AbortSignal) {
  const sinceMs = performance.now()
  signalGroup(child, first)
  // one that is stopped (SIGSTOP, Ctrl-Z) hears nothing else
  signalGroup(child, 'SIGCONT')
  await sleepUntilAborted(graceMs, over)
  while (lives(child) && performance.now() - sinceMs < graceMs) await sleepUntilAborted(LOOK_MS)
  signalGroup(child, 'SIGKILL')
}

/** Whether one of the group has not ended. In a container nobody may collect those that have: they are there, but dead. */
function lives(child: ChildProcess): boolean {
  if (!signalGroup(child, 0)) return false
  try {
    return readdirSync('/proc').some(name => /^\d+$/.test(name) && isAliveIn(name, child.pid))
  } catch {
    // no Linux: it is there
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

/** The reason may name a signal. */
function signalIn(reason: unknown): NodeJS.Signals {
  return typeof reason === 'string' && Object.hasOwn(constants.signals, reason) ? (reason as NodeJS.Signals) : 'SIGTERM'
}
