//! The 33 kinds of tasks of WorkArena's first level, as `TASK_CATEGORY_MAP` of
//! `browsergym/workarena/__init__.py` lists them. Without the four that read charts they are the 29
//! of the benchmark's first version.

/// The properties that all tasks of a kind share.
#[derive(Debug, PartialEq, Eq)]
pub struct Kind {
    /// Its name behind `workarena.servicenow.`.
    pub name: &'static str,
    /// The category under which results count it.
    pub category: &'static str,
    /// The published file with its tasks, in the folder `task_configs`.
    pub file: &'static str,
    /// The form of its tasks.
    pub form: Form,
}

/// The form of the tasks of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// [`Menu`](super::Menu).
    Menu,
    /// [`Impersonation`](super::Impersonation).
    Impersonation,
    /// [`Knowledge`](super::Knowledge).
    Knowledge,
    /// [`Filter`](super::Filter) of this table's list.
    Filter(&'static str),
    /// [`Sort`](super::Sort) of this table's list.
    Sort(&'static str),
    /// [`NewRecord`](super::NewRecord) in this table.
    NewRecord(&'static str),
    /// [`Order`](super::Order).
    Order,
    /// [`Chart`](super::Chart).
    Chart,
}

const fn kind(name: &'static str, category: &'static str, file: &'static str, form: Form) -> Kind {
    Kind { name, category, file, form }
}

/// All of them, in the order of the published list.
pub const KINDS: [Kind; 33] = [
    kind("all-menu", "menu", "all_menu.json", Form::Menu),
    kind(
        "create-change-request",
        "form",
        "create_change_request_task.json",
        Form::NewRecord("change_request"),
    ),
    kind(
        "create-hardware-asset",
        "form",
        "create_hardware_asset_task.json",
        Form::NewRecord("alm_hardware"),
    ),
    kind("create-incident", "form", "create_incident_task.json", Form::NewRecord("incident")),
    kind("create-problem", "form", "create_problem_task.json", Form::NewRecord("problem")),
    kind("create-user", "form", "create_user_task.json", Form::NewRecord("sys_user")),
    kind(
        "filter-asset-list",
        "list-filter",
        "filter_asset_list_task.json",
        Form::Filter("alm_asset"),
    ),
    kind(
        "filter-change-request-list",
        "list-filter",
        "filter_change_request_list_task.json",
        Form::Filter("change_request"),
    ),
    kind(
        "filter-hardware-list",
        "list-filter",
        "filter_hardware_list_task.json",
        Form::Filter("alm_hardware"),
    ),
    kind(
        "filter-incident-list",
        "list-filter",
        "filter_incident_list_task.json",
        Form::Filter("incident"),
    ),
    kind(
        "filter-service-catalog-item-list",
        "list-filter",
        "filter_service_catalog_item_list_task.json",
        Form::Filter("sc_cat_item"),
    ),
    kind("filter-user-list", "list-filter", "filter_user_list_task.json", Form::Filter("sys_user")),
    kind("impersonation", "menu", "impersonation_users.json", Form::Impersonation),
    kind("knowledge-base-search", "knowledge", "knowledge_base_configs.json", Form::Knowledge),
    kind(
        "order-apple-mac-book-pro15",
        "service catalog",
        "order_apple_mac_book_pro15_task.json",
        Form::Order,
    ),
    kind("order-apple-watch", "service catalog", "order_apple_watch_task.json", Form::Order),
    kind(
        "order-developer-laptop",
        "service catalog",
        "order_developer_laptop_task.json",
        Form::Order,
    ),
    kind(
        "order-development-laptop-p-c",
        "service catalog",
        "order_development_laptop_pc_task.json",
        Form::Order,
    ),
    kind("order-ipad-mini", "service catalog", "order_ipad_mini_task.json", Form::Order),
    kind("order-ipad-pro", "service catalog", "order_ipad_pro_task.json", Form::Order),
    kind("order-loaner-laptop", "service catalog", "order_loaner_laptop_task.json", Form::Order),
    kind("order-sales-laptop", "service catalog", "order_sales_laptop_task.json", Form::Order),
    kind(
        "order-standard-laptop",
        "service catalog",
        "order_standard_laptop_task.json",
        Form::Order,
    ),
    kind("sort-asset-list", "list-sort", "sort_asset_list_task.json", Form::Sort("alm_asset")),
    kind(
        "sort-change-request-list",
        "list-sort",
        "sort_change_request_list_task.json",
        Form::Sort("change_request"),
    ),
    kind(
        "sort-hardware-list",
        "list-sort",
        "sort_hardware_list_task.json",
        Form::Sort("alm_hardware"),
    ),
    kind("sort-incident-list", "list-sort", "sort_incident_list_task.json", Form::Sort("incident")),
    kind(
        "sort-service-catalog-item-list",
        "list-sort",
        "sort_service_catalog_item_list_task.json",
        Form::Sort("sc_cat_item"),
    ),
    kind("sort-user-list", "list-sort", "sort_user_list_task.json", Form::Sort("sys_user")),
    kind(
        "multi-chart-min-max-retrieval",
        "dashboard",
        "dashboard_retrieval_minmax_task.json",
        Form::Chart,
    ),
    kind(
        "multi-chart-value-retrieval",
        "dashboard",
        "dashboard_retrieval_value_task.json",
        Form::Chart,
    ),
    kind(
        "single-chart-value-retrieval",
        "dashboard",
        "report_retrieval_value_task.json",
        Form::Chart,
    ),
    kind(
        "single-chart-min-max-retrieval",
        "dashboard",
        "report_retrieval_minmax_task.json",
        Form::Chart,
    ),
];
