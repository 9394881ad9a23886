import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { accountUrl } from '../../../src/store/address.ts'
import { openContainer } from '../../../src/store/azure/client.ts'
import { openAzureBlobStore } from '../../../src/store/azure/store.ts'
import type { StreamStore } from '../../../src/store/store.ts'
import { runBatch } from '../../../src/util/concurrency.ts'
import { trustRow } from '../../guarantees/record.ts'
import { sized } from '../../guarantees/size.ts'
import type { Fault } from '../../support/fault-proxy.ts'
import { LIVE_STORE, NOT_LIVE, removeContainers, type TestAccount, testAccount } from '../../support/live-store.ts'
import { type Course, endsByLimit, type Place, type Play, play } from './cell.ts'
import { CONTROLS, spoilt } from './controls.ts'
import { FAULTS, formOf, LASTING } from './faults.ts'
import { complaints } from './judge.ts'
import { type Cell, gaps, pageText, readPage } from './page.ts'
import { SUBJECTS } from './subject.ts'

/** The outcome of every ambiguous answer: the tables of docs/ambiguity.md, executed. */
const row = trustRow('ambiguity')
const sagas = trustRow('sagas')
const page = readPage(pageText())
/** `LEASECTL_MATRIX_CELL='reset × write'` runs only that cell, in all its forms. */
const ONLY = process.env.LEASECTL_MATRIX_CELL
/** Ten operations by fourteen faults that strike once; by fifteen permanent ones. */
const [CELLS, LASTING_CELLS] = [140, 150]
/** Most of them wait; more at a time only slow each other down. */
const LANES = 24

/** Without the proxy nothing depends on time. */
const PATIENT = { leaseMs: 60_000, bodyMs: 60_000 }

let account: TestAccount
let container: string
let direct: StreamStore
let place: Place

beforeAll(async () => {
  account = await testAccount()
  container = account.newContainer()
  direct = await account.open(container, { limits: PATIENT })
  await direct.createContainer()
  place = {
    target: account.target,
    direct,
    open: async (port, limits) => openAzureBlobStore({ ...(await account.over(port, container)), limits }),
    client: async port => {
      const { address, credential } = await account.over(port, container)
      return (await openContainer(accountUrl(address), container, credential)).client
    },
  }
})

afterAll(async () => {
  await direct.close()
  await removeContainers(account, [container])
})

describe('the page of ambiguous answers', () => {
  test('has an outcome for each operation and each fault, and each outcome is defined', () => {
    expect(page.once).toHaveLength(CELLS)
    expect(gapsOf(page)).toEqual([])
  })

  test('is incomplete without a cell, or with an unknown one', () => {
    const text = pageText()
    const isCaught = (changed: string) => changed !== text && gapsOf(readPage(changed)).length > 0
    expect(isCaught(text.replace(/\n\| reset .*/, ''))).toBe(true)
    expect(isCaught(text.replace('| reset |', '| eaten by a dog |'))).toBe(true)
    expect(isCaught(text.replace('| reset | done |', '| reset | splendid |'))).toBe(true)
    row.control('a cell of the page is missing', isCaught(text.replace(/\n\| reset .*/, '')))
  })
})

describe('each cell has the documented outcome', () => {
  const timeout = sized(400_000, 600_000)

  test('for a fault that strikes once, and for a permanent one', { timeout }, async () => {
    if (LIVE_STORE === undefined) row.skipped('the matrix on a live account', NOT_LIVE)
    const all = [...playsOf(page.lasting, true), ...playsOf(page.once, false)].filter(({ cell }) => isWanted(cell))
    const isSlow = ({ play: { fault } }: (typeof all)[number]) => endsByLimit(fault)
    // Waiting cells begin first; the others run meanwhile.
    const plays = [...all.filter(isSlow), ...all.filter(one => !isSlow(one))]
    const wrong: string[] = []
    const [came, strayed] = [new Set<Cell>(), new Set<Cell>()]
    let injected = 0
    let injectedInSagas = 0
    let anew = 0
    await runBatch(plays, { concurrency: LANES }, async ({ cell, play: one }) => {
      const course = await played(place, one)
      const against = verdict(cell, one, course)
      wrong.push(...against)
      const side = against.length === 0 ? came : strayed
      side.add(cell)
      if ('error' in course) return
      injected += course.injected
      if (cell.operation === 'saga') injectedInSagas += course.injected
      anew += course.slow
    })
    expect(wrong).toEqual([])
    expect(injected).toBeGreaterThanOrEqual(plays.length)
    if (ONLY !== undefined) return
    // A cell counts once, and only if each of its runs had the documented outcome.
    const kept = (cells: readonly Cell[]) =>
      new Set(cells.filter(cell => came.has(cell) && !strayed.has(cell)).map(nameOf)).size
    const [once, lasting] = [kept(page.once), kept(page.lasting)]
    expect({ once, lasting }).toEqual({ once: CELLS, lasting: LASTING_CELLS })
    row.injected('faults', injected)
    const slow = `${plays.length} plays, ${anew} of them begun anew on a slow machine`
    const where = LIVE_STORE === undefined ? '' : ` on ${LIVE_STORE}`
    row.figure('cells', `${once} of ${CELLS} that strike once${where}`, `at least ${CELLS}; ${slow}`)
    const ofSagas = (cells: readonly Cell[]) => cells.filter(({ operation }) => operation === 'saga')
    const sagaCells = [...ofSagas(page.once), ...ofSagas(page.lasting)]
    expect(kept(sagaCells)).toBe(new Set(sagaCells.map(nameOf)).size)
    sagas.injected('faults', injectedInSagas)
    sagas.figure('cells', `${kept(sagaCells)} of ${sagaCells.length}`, `at least ${sagaCells.length}`)
    row.figure('cells', `${lasting} of ${LASTING_CELLS} that last${where}`, `at least ${LASTING_CELLS}`)
  })

  test.each(CONTROLS)('but not without its protection: $name', async ({ name, operation, fault, form, spoil }) => {
    const cell = page.once.find(one => one.operation === operation && one.fault === fault)
    if (cell === undefined) throw new Error(`no cell ${fault} × ${operation}`)
    const one: Play = { operation, fault: form, lasts: false, write: 'lease' }
    const wrong = verdict(cell, one, await played(spoilt(place, spoil), one))
    expect(wrong).not.toEqual([])
    const about = operation === 'saga' ? sagas : row
    about.control(name, wrong.length > 0)
  })
})

function gapsOf(read: typeof page): string[] {
  return gaps(read, Object.keys(SUBJECTS), Object.keys(FAULTS), Object.keys(LASTING))
}

const nameOf = ({ fault, operation }: Cell): string => `${fault} × ${operation}`

const isWanted = (cell: Cell): boolean => ONLY === undefined || nameOf(cell) === ONLY

/** In CI each in its fastest forms, each of which some changes meet by turns; both write modes if that is cheap. */
function playsOf(cells: readonly Cell[], lasts: boolean): { readonly cell: Cell; readonly play: Play }[] {
  const faults = lasts ? LASTING : FAULTS
  const isFull = sized(false, true) || ONLY !== undefined
  return cells.flatMap(cell => {
    const forms = (faults[cell.fault] ?? []).filter(({ silent }) => isFull || silent !== true)
    return forms.flatMap(fault => {
      const alike = forms.filter(other => endsByLimit(other) === endsByLimit(fault))
      const ways = waysOf(cell, fault, lasts, isFull)
      return ways
        .filter((_, at) => isFull || isTurn(alike.indexOf(fault), alike.length, at, ways.length))
        .map(way => ({ cell, play: { operation: cell.operation, fault, lasts, ...way } }))
    })
  })
}

/** Each form is used at least once, and each way, but not each form with each way. */
function isTurn(form: number, forms: number, way: number, ways: number): boolean {
  return forms > ways ? form % ways === way : way % forms === form
}

/** The changes of an operation, under the lease; a plain one also without it. A fault that is waited for, only with that. */
function waysOf({ operation }: Cell, fault: Fault, lasts: boolean, isFull: boolean): Pick<Play, 'write' | 'change'>[] {
  const all = Object.keys(SUBJECTS[operation]?.changes ?? {})
  const isCheap = !lasts && !endsByLimit(fault)
  const changes = isFull || isCheap ? all : all.slice(0, 1)
  const leased = changes.map(change => ({ write: 'lease' as const, change }))
  if (changes.length === 0) return [{ write: 'lease' }]
  if (operation !== 'write' || (lasts && !isFull)) return leased
  return [
    ...leased,
    ...(isFull ? changes : changes.slice(0, 1)).map(change => ({ write: 'optimistic' as const, change })),
  ]
}

async function played(where: Place, one: Play): Promise<Course | { readonly error: unknown }> {
  return play(where, one).catch(error => ({ error }))
}

function verdict(
  cell: Cell,
  { fault, lasts, write, change }: Play,
  course: Course | { readonly error: unknown },
): string[] {
  const wrong =
    'error' in course
      ? [`failed: ${String(course.error)}`]
      : complaints(course, cell.outcome, page.meanings.get(cell.outcome))
  const title = `${lasts ? 'lasting' : 'once'}: ${nameOf(cell)} (${[formOf(fault), write, change].filter(word => word !== undefined).join(', ')})`
  const repeat = `repeat: LEASECTL_MATRIX_CELL='${nameOf(cell)}' npx vitest run test/faults/matrix`
  return wrong.map(what => `${title}: ${what}; ${repeat}`)
}
