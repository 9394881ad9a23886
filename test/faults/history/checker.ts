import { type Call, isOpen } from './history.ts'
import { type Command, type FinalStream, type Life, livesOf, mayBeginAnew, NEVER_US } from './lives.ts'

export interface Violation {
  readonly rule: RuleName
  /** Stream and life, `orders/1@born`. */
  readonly life: string
  readonly why: string
}

export interface Verdict {
  readonly violations: readonly Violation[]
  /** Changes and removals of which it is not known in the end whether they were made. */
  readonly unresolved: readonly string[]
  /** Changes in all journals. */
  readonly made: number
  /** Lives that may have begun anew: only some rules hold of them. */
  readonly begunAnew: number
}

/** What a rule finds wrong in one life of a stream, in words. */
type Rule = (life: Life) => string[]

/** One thing each that must never happen. */
export const RULES = {
  /** What was said to be made is not there. */
  lost: life => [
    ...eachCommand(life, (id, command, times) =>
      isDone(command) && times === 0 ? `${id} was said to be made and is not there` : undefined,
    ),
    ...versionsBeyond(life),
  ],
  doubled: life => eachCommand(life, (id, _, times) => (times > 1 ? `${id} is there ${times} times` : undefined)),
  /** What was said not to be made is there, or what nobody asked for. */
  invented,
  /** Versions have gaps, or are not those that were told. */
  misnumbered,
  /** What was asked for after a version was known to be there is that version or an earlier one. */
  reordered: ({ commands, sights, journal = [] }) => {
    const known = knownUs(sights, journal.length)
    return journal.flatMap(({ id }, at) => {
      const fromUs = commands.get(id)?.fromUs ?? 0
      return fromUs > (known[at + 1] ?? NEVER_US) ? [`${id} stands before what was known when it was asked for`] : []
    })
  },
  /** A read saw less than was known before it was asked for, or something else than what was there. */
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
  /** What was removed is there again. */
  resurrected: ({ removedUs = NEVER_US, sights, isThere }) => [
    ...(isThere && removedUs < NEVER_US ? ['it was removed and is there'] : []),
    ...sights
      .filter(({ fromUs, version }) => fromUs > removedUs && fromUs < NEVER_US && version > 0)
      .map(({ version }) => `version ${version} was seen after it had been removed`),
  ],
} as const satisfies Record<string, Rule>

export type RuleName = keyof typeof RULES

/** Those that hold of a life that may have begun anew, too. */
const RULES_ANEW: ReadonlySet<RuleName> = new Set(['doubled', 'invented'])

/**
 * Judges what workers were told by what is there in the end, knowing nothing of how it came about. Each rule walks over each
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

/** A removal names the version it read: it can still come only while that is there, and nobody was told the last word. */
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
    // A command is looked for before it is refused. What was open may have been made in a life that is over.
    const isDenied = isInDoubt(command) ? isThere && isSettled(command) : true
    return isDenied ? [`${id} was said not to be made and is there`] : []
  })
}

function misnumbered({ commands, journal = [] }: Life): string[] {
  // Of one that is there twice the first: the second is another rule's business.
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

/** By version: since when it was known that it or a later one is there, µs. */
function knownUs(sights: Life['sights'], versions: number): number[] {
  const known: number[] = new Array(versions + 3).fill(NEVER_US)
  for (const { version, toUs } of sights) known[version] = Math.min(known[version] ?? NEVER_US, toUs)
  for (let at = versions + 1; at >= 0; at--) known[at] = Math.min(known[at] ?? NEVER_US, known[at + 1] ?? NEVER_US)
  return known
}

function isDone({ tries }: Command): boolean {
  return tries.some(({ told }) => told?.kind === 'done')
}

/** Of one of its tries nobody was told what became of it. */
function isInDoubt({ tries }: Command): boolean {
  return tries.some(isOpen)
}

function isSettled(command: Command): boolean {
  const isLast = (call: Call) => call.asked.what === 'change' && call.asked.last === true && !isOpen(call)
  return isDone(command) || command.tries.some(isLast)
}
