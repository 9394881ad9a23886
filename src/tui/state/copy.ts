import { visibleText } from '../../stream/text.ts'
import type { World } from './context.ts'
import type { State } from './state.ts'
import { noted, only, type Step } from './transition.ts'

/** Hands a command line to the clipboard and says which. */
export function copied(state: State, world: World, text: string): Step {
  return only(noted(state, world, `copied: ${visibleText(text)}`, 'good'), { kind: 'copy', text })
}
