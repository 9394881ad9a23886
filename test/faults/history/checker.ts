import { type Call, isOpen } from './history.ts'
import { type Command, type FinalStream, type Life, livesOf, mayBeginAnew, NEVER_US } from './lives.ts'

export interface Violation {
  readonly rule: RuleName
  /** Stream and incarnation, `orders/1@born`. */
  readonly life: string
  readonly why: string
}

export interface Verdict {
  readonly violations: readonly Violation[]
  /** Changes and removals whose outcome remains unknown in the end. */
  readonly unresolved: readonly string[]
  /** Changes in all journals. */
  readonly made: number
  /** Incarnations that may have begun again: only some rules apply to them. */
  readonly begunAnew: number
}

/** The violations of a rule in one incarnation of a stream, in words. */
type Rule = (life: Life) => string[]

/** One impossibility each. */
export const RULES = {
  /** A change reported as made is missing. */
  lost: life => [
    ...eachCommand(life, (id, command, times) =>
      isDone(command) && times === 0 ? `${id} was said to be made and is not there` : undefined,
    ),
    ...versionsBeyond(life),
  ],
  doubled: life => eachCommand(life, (id, _, times) => (times > 1 ? `${id} is there ${times} times` : undefined)),
  /** A change reported as not made exists, or one that was never requested. */
  invented,
  /** Versions have gaps, or differ from the reported ones. */
  misnumbered,
  /** A change requested after a version was known to exist has that version or an earlier one. */
  reordered: ({ commands, sights, journal = [] }) => {
    const known = knownUs(sights, journal.length)
    return journal.flatMap(({ id }, at) => {
      const fromUs = commands.get(id)?.fromUs ?? 0
      return fromUs > (known[at + 1] ?? NEVER_US) ? [`${id} stands before what was known when it was asked for`] : []
    })
  },
  /** A read returned less than was known before its request, or a state that did not exist. */
  stale: ({ sights, journal = [] }) => {
    const known = knownUs(sights, journal.length)
    return sights.flatMap(({ fromUs, version, id }) => {
      if (fromUs !== NEVER_US && fromUs > (known[version + 1] ?? NEVER_US))
        return [`a read saw version ${version} when a later one was known`]
      const entry = journal[version - 1]
      // The first one creates the stream: it leaves no name on its root.
      const isSame = id === undefined || version <= 1 || entry === undefined || entry.id === id
      return isSame ? [] : [`version ${version} was told of as ${id}, and is ${entry.id}`]
    })
  },
  /** A removed stream exists again. */
  resurrected: ({ removedUs = NEVER_US, sights, isThere }) => [
    ...(isThere && removedUs < NEVER_US ? ['it was removed and is there'] : []),
    ...sights
      .filter(({ fromUs, version }) => fromUs > removedUs && fromUs < NEVER_US && version > 0)
      .map(({ version }) => `version ${version} was seen after it had been removed`),
  ],
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

/** The rules for an incarnation that may have begun again, too. */
const RULES_ANEW: ReadonlySet<RuleName> = new Set(['doubled', 'invented'])

/**
 * Judges the reports to workers by the final streams, independently of the implementation. Each rule walks over each
 * call and each entry a few times and sorts nothing: linear time.
 */
export function check(
  calls: readonly Call[],
  streams: ReadonlyMap<string, FinalStream>,
  rules: readonly RuleName[] = Object.keys(RULES) as RuleName[],
): Verdict {
  const lives = livesOf(calls, streams)
  const anew = new Set(lives.filter(mayBeginAnew))
  const violations = lives.flatMap(life => {
    const judged = anew.has(life) ? rules.filter(rule => RULES_ANEW.has(rule)) : rules
    return judged.flatMap(rule => RULES[rule](life).map(why => ({ rule, life: life.name, why })))
  })
  const unresolved = lives.flatMap(life => [...openCommands(life), ...openRemoval(life)])
  const made = lives.reduce((sum, { journal = [] }) => sum + journal.length, 0)
  return { violations, unresolved, made, begunAnew: anew.size }
}

function openCommands({ commands }: Life): string[] {
  return [...commands].filter(([, command]) => isInDoubt(command) && !isSettled(command)).map(([id]) => id)
}

/** A removal names the version it read: it can still land only while that exists, and no final outcome was reported. */
function openRemoval({ name, removals, isThere, journal = [] }: Life): string[] {
  const version = journal.at(-1)?.version ?? 0
  const settled = new Set(
    removals.flatMap(call => (call.asked.last === true && !isOpen(call) ? [call.asked.etag] : [])),
  )
  const canCome = removals
    .filter(call => isOpen(call) && !settled.has(call.asked.etag))
    .some(({ asked }) => {
      return (asked.journal.at(-1)?.version ?? 0) >= version
    })
  return isThere && canCome ? [`the removal of ${name}`] : []
}

function eachCommand(
  { commands, journal = [] }: Life,
  judge: (id: string, command: Command, times: number) => string | undefined,
): string[] {
  const times = new Map<string, number>()
  for (const { id } of journal) times.set(id, (times.get(id) ?? 0) + 1)
  return [...commands].flatMap(([id, command]) => judge(id, command, times.get(id) ?? 0) ?? [])
}

function versionsBeyond({ sights, journal = [] }: Life): string[] {
  const latest = Math.max(0, ...journal.slice(-1).map(({ version }) => version))
  return sights.flatMap(({ version }) =>
    version > latest ? [`version ${version} was seen, the last is ${latest}`] : [],
  )
}

function invented({ commands, journal = [], isThere }: Life): string[] {
  return journal.flatMap(({ id }) => {
    const command = commands.get(id)
    if (command === undefined) return [`${id} was asked for by nobody`]
    if (isDone(command)) return []
    // A command id is searched before a refusal. An open one may have been applied in an earlier incarnation.
    const isDenied = isInDoubt(command) ? isThere && isSettled(command) : true
    return isDenied ? [`${id} was said not to be made and is there`] : []
  })
}

function misnumbered({ commands, journal = [] }: Life): string[] {
  // Of a duplicate the first counts: the second is another rule's business.
  const versions = new Map(journal.toReversed().map(({ id, version }) => [id, version]))
  const gaps = journal.flatMap(({ version }, at) => (version === at + 1 ? [] : [`version ${version} after ${at}`]))
  const told = [...commands].flatMap(([id, { tries }]) => {
    const version = versions.get(id)
    const wrong = tries.find(
      call => call.told?.kind === 'done' && version !== undefined && call.told.version !== version,
    )
    return wrong?.told?.kind === 'done' ? [`${id} is version ${version}, ${wrong.told.version} was told`] : []
  })
  return [...gaps, ...told]
}

/** By version: the time since which that or a later one is known to exist, µs. */
function knownUs(sights: Life['sights'], versions: number): number[] {
  const known: number[] = new Array(versions + 3).fill(NEVER_US)
  for (const { version, toUs } of sights) known[version] = Math.min(known[version] ?? NEVER_US, toUs)
  for (let at = versions + 1; at >= 0; at--) known[at] = Math.min(known[at] ?? NEVER_US, known[at + 1] ?? NEVER_US)
  return known
}

function isDone({ tries }: Command): boolean {
  return tries.some(({ told }) => told?.kind === 'done')
}

/** The outcome of one of its attempts was never reported. */
function isInDoubt({ tries }: Command): boolean {
  return tries.some(isOpen)
}

function isSettled(command: Command): boolean {
  const isLast = (call: Call) => call.asked.what === 'change' && call.asked.last === true && !isOpen(call)
  return isDone(command) || command.tries.some(isLast)
}
