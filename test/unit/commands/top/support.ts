import { portsOf } from '../../../../src/commands/top/ports.ts'
import type { ChangeEnd, ChangeTarget, ChangeVerb, Outcome, Ports, Preview } from '../../../../src/tui/ports.ts'
import { fakeRuntime, type Setting, type World } from '../support.ts'

/** The ports of the dashboard in this world. */
export async function portsOver(
  world: World,
  setting: Setting = {},
  filterArgv?: readonly string[],
  more: { readonly mayUnlock?: boolean } = {},
): Promise<Ports> {
  const { runtime } = fakeRuntime(world, ['top'], setting)
  const options = {
    mayUnlock: true,
    onSwitch: async () => {},
    ...(filterArgv === undefined ? {} : { filterArgv }),
    ...more,
  }
  return portsOf(await runtime.openStore({}), options, runtime)
}

export const never = new AbortController().signal

/** Streams in the form of marks. */
export const streams = (...names: readonly string[]): ChangeTarget[] => names.map(stream => ({ stream }))

export function look(ports: Ports, verb: ChangeVerb, targets: readonly ChangeTarget[]): Promise<Preview> {
  return ports.preview(verb, targets, never)
}

export interface Carried {
  readonly outcomes: readonly Outcome[]
  readonly end: ChangeEnd
}

/** Confirms it with yes. */
export async function carry(ports: Ports, preview: Preview, reason = '', signal = never): Promise<Carried> {
  const outcomes: Outcome[] = []
  const end = await ports.carryOut(preview, reason, outcome => void outcomes.push(outcome), signal)
  return { outcomes, end }
}

/** The outcome of each, as `word stream`. */
export const wordsOf = ({ outcomes }: Carried) => outcomes.map(({ word, target }) => `${word} ${target.stream}`).sort()
