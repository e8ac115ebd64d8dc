/** The engines that jobs can run on, and the devices that those of each can have. */

import { type ISignal, Signal } from '@lumino/signaling';

import type { Api } from '../../api';
import type { IEngineFeatures, IInventory } from '../../domain';
import type { Training } from '../estimate/training';

export class Engines {
  constructor(private readonly _api: Api) {}

  /** As the server lists them; empty before it has answered. */
  list: readonly IEngineFeatures[] = [];

  /** Emitted when an engine has told its own devices. */
  get changed(): ISignal<this, void> {
    return this._changed;
  }

  /** The engine that will run it: the person's, the match's, or the first that can. */
  of(training: Training): IEngineFeatures | undefined {
    const name = training.submission.choice.engine || training.placement?.engine;
    return (
      this.list.find(engine => engine.name === name) ??
      this.list.find(engine => engine.available) ??
      this.list[0]
    );
  }

  /** An engine's own devices; null where it has none of its own or has not told them yet. */
  ownDevices(engine: IEngineFeatures): IInventory | null {
    return this._own.get(engine.name) ?? null;
  }

  /** Ask the chosen engine for its own devices, where it has any: once a choice and once a match. */
  async readDevices(training: Training | null): Promise<void> {
    const engine = training && this.of(training);
    const asked = engine?.own_devices ? `${engine.name} ${training?.placed}` : '';
    if (!engine || !asked || asked === this._asked) {
      this._asked = asked;
      return;
    }
    this._asked = asked;
    try {
      this._own.set(engine.name, await this._api.devices(engine.name));
      this._changed.emit();
    } catch {
      // The match and the submit say what is wrong with the engine.
    }
  }

  dispose(): void {
    Signal.clearData(this);
  }

  private readonly _own = new Map<string, IInventory>();
  private _asked = '';
  private readonly _changed = new Signal<this, void>(this);
}
