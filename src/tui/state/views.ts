import { visibleText } from '../../util/visible-text.ts'
import type { SavedView } from '../settings.ts'
import type { ScreenContext } from './context.ts'
import { showScreen } from './panes.ts'
import { SCREENS, type State } from './state.ts'
import { listOf, only, type Transition, withList, withNotice } from './transition.ts'

/** Opens a saved view: its screen with its filter and its order. */
export function openView(state: State, context: ScreenContext, name: string): State {
  const view = viewNamed(state, name)
  if (view === undefined) {
    const text = `no view ${visibleText(name)} yet: :view ${visibleText(name)} saves this list under it`
    return withNotice(state, context, text, 'warn')
  }
  const screen = SCREENS.find(known => known === view.screen)
  if (screen === undefined || screen === 'stream') {
    const text = `the view ${visibleText(name)} is one of ${visibleText(view.screen)}, a screen that is not known here`
    return withNotice(state, context, text, 'warn')
  }
  const { filter, onlyBroken, sort } = view
  const there = showScreen(state, context, screen)
  const moves = listOf(there).moves + 1
  const next = withList(there, { filter, onlyBroken, sort, moves, cursor: undefined, index: 0, offset: 0 })
  return withNotice(next, context, `view ${visibleText(name)}`, 'good')
}

export function viewNamed({ settings }: State, name: string): SavedView | undefined {
  return Object.hasOwn(settings.views, name) ? settings.views[name] : undefined
}

/** Saves the list of the screen under a name, also over an older view. */
export function saveView(state: State, context: ScreenContext, name: string): Transition {
  const { screen } = state
  if (screen === 'stream') return only(withNotice(state, context, 'a view is one of a list: 1 3 4 5 6 7 8', 'warn'))
  const { filter, onlyBroken, sort } = listOf(state)
  const key = /^[a-z0-9]$/i.test(name) ? `' ${name}` : `:view ${visibleText(name)}`
  const next = withNotice(state, context, `saved: ${key} opens it again`, 'good')
  return only(next, { kind: 'save-settings', change: { views: { [name]: { screen, filter, onlyBroken, sort } } } })
}

export function removeView(state: State, context: ScreenContext, name: string): Transition {
  if (viewNamed(state, name) === undefined)
    return only(withNotice(state, context, `no view ${visibleText(name)}`, 'warn'))
  const next = withNotice(state, context, `removed the view ${visibleText(name)}`, 'good')
  return only(next, { kind: 'save-settings', change: { views: { [name]: undefined } } })
}

/** All views, one a line. */
export function viewLines({ settings }: State): readonly string[] {
  const views = Object.entries(settings.views).sort(([a], [b]) => (a < b ? -1 : 1))
  if (views.length === 0) return [':view NAME saves the screen with its filter and order; no view is saved yet']
  return views.map(([name, view]) => visibleText(`${name}  ${viewText(view)}`))
}

function viewText({ screen, filter, onlyBroken, sort }: SavedView): string {
  const parts = [
    screen,
    onlyBroken ? 'only broken' : '',
    filter === '' ? '' : `filter ${filter}`,
    sort === undefined ? '' : `sorted by ${sort.by}${sort.isDescending ? ', reversed' : ''}`,
  ]
  return parts.filter(part => part !== '').join(' · ')
}
