// The parts of ECharts that Toll's charts use, as the global that the wasm module binds to.
import { BarChart, FunnelChart, LineChart } from 'echarts/charts';
import {
  AriaComponent, DataZoomComponent, GridComponent, LegendPlainComponent, MarkAreaComponent, TitleComponent, TooltipComponent,
} from 'echarts/components';
import { getInstanceByDom, init, use } from 'echarts/core';
import { CanvasRenderer } from 'echarts/renderers';

use([
  AriaComponent,
  BarChart,
  CanvasRenderer,
  DataZoomComponent,
  FunnelChart,
  GridComponent,
  LegendPlainComponent,
  LineChart,
  MarkAreaComponent,
  TitleComponent,
  TooltipComponent,
]);

globalThis.echarts = { getInstanceByDom, init };
